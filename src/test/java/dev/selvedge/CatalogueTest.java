package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The catalogue has 198 behaviours: each has a test that bears its number, or stands here with the reason why not. */
@Timeout(60)
class CatalogueTest {

    private static final int BEHAVIOURS = 198;

    /** Numbers without a test, and why. */
    private static final Map<Integer, String> NOT_COVERED = notCovered();

    private static Map<Integer, String> notCovered() {
        Map<Integer, String> m = new TreeMap<>();
        put(m, "not offered: a deadline is not moved once its block has begun", 63);
        put(m, "no stop condition by a predicate is offered yet", 119, 120);
        put(m, "cannot happen: scopes are lambdas, the inner one ends first", 134);
        return m;
    }

    private static void put(Map<Integer, String> reasons, String why, int... numbers) {
        for (int n : numbers) {
            reasons.put(n, why);
        }
    }

    @Test
    void every_behaviour_has_a_test_or_a_reason() throws Exception {
        Set<Integer> covered = covered();
        List<Integer> missing =
                new ArrayList<>(IntStream.rangeClosed(1, BEHAVIOURS).boxed().toList());
        missing.removeAll(covered);

        assertThat(missing).as("behaviours that have no test").containsExactlyElementsOf(NOT_COVERED.keySet());
        System.out.println(
                "catalogue: " + covered.size() + " of " + BEHAVIOURS + " behaviours have a test; not covered yet:");
        NOT_COVERED.forEach((number, why) -> System.out.println("  " + number + ": " + why));
    }

    @Test
    void no_test_bears_a_number_that_does_not_exist() throws Exception {
        assertThat(covered()).allMatch(n -> n >= 1 && n <= BEHAVIOURS);
    }

    private static Set<Integer> covered() throws Exception {
        return NumberedTests.numbers(Catalogue.class, Catalogue::value);
    }
}
