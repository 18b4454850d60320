package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What broke in other libraries is a list of 93: each has a test that bears its number, or stands here with the reason why not. */
@Timeout(60)
class LessonsTest {

    private static final int LESSONS = 93;

    /** Numbers without a test, and why. */
    private static final Map<Integer, String> NOT_TESTED =
            Map.of(51, "a breaker counts what has ended: a limit by its nature, which its documentation tells");

    @Test
    void every_lesson_has_a_test_or_a_reason() throws Exception {
        Set<Integer> tested = NumberedTests.numbers(Lesson.class, Lesson::value);
        List<Integer> missing =
                new ArrayList<>(IntStream.rangeClosed(1, LESSONS).boxed().toList());
        missing.removeAll(tested);

        assertThat(missing).containsExactlyElementsOf(NOT_TESTED.keySet());
        assertThat(tested).allMatch(n -> n >= 1 && n <= LESSONS);
    }
}
