package dev.selvedge;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Carries many failures into the log: counted by kind, with the trace of one of each kind at the most. */
final class CountedFailures extends RuntimeException {

    private static final long serialVersionUID = 1;

    private static final int KINDS_SHOWN = 10;

    /**
     * One entry for all.
     *
     * @param head what they are
     * @param thrown is seen anyway: failures that say the same are counted only; null for none
     */
    CountedFailures(String head, List<? extends Throwable> failures, @Nullable Throwable thrown) {
        this(head, thrown, FailureGroup.of(failures));
    }

    private CountedFailures(String head, @Nullable Throwable thrown, List<FailureGroup> groups) {
        super(head + ": " + words(groups), null, true, false);
        List<Throwable> unused = Failure.attach(
                this,
                groups.stream()
                        .map(FailureGroup::first)
                        .filter(e -> !FailureGroup.areAlike(e, thrown))
                        .toList());
    }

    private static String words(List<FailureGroup> groups) {
        List<String> shown =
                groups.stream().limit(KINDS_SHOWN).map(FailureGroup::toString).toList();
        int more = groups.size() - shown.size();
        return String.join(", ", shown) + (more > 0 ? " and " + more + " more" : "");
    }
}
