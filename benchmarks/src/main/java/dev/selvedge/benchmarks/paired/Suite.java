package dev.selvedge.benchmarks.paired;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Contenders that do the same work in different ways. To add a suite, implement this and enter it in {@link #ALL}. */
interface Suite {

    /** Every suite. */
    List<Suite> ALL = Stream.<List<? extends Suite>>of(
                    List.of(new Gather()), MapItems.suites(), ProgressCost.suites(), EventCost.suites(), PolicyCalls.SUITES)
            .<Suite>flatMap(List::stream)
            .toList();

    /** The suite of a name. */
    static Optional<Suite> named(String name) {
        return ALL.stream().filter(s -> s.name().equals(name)).findFirst();
    }

    /** Its name on the command line. */
    String name();

    /** What it measures, in one line. */
    String about();

    /** The sizes that are measured unless others are asked for. */
    List<Integer> sizes();

    /** The contenders for work of size {@code n}; the first is the baseline. All must give the same number. */
    List<Contender> contenders(int n);
}
