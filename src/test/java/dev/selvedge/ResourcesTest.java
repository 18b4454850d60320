package dev.selvedge;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What {@link Scope#use} promises. */
@Timeout(30)
class ResourcesTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    @Catalogue(144)
    void resources_are_closed_last_first_after_all_forks_have_ended() {
        lab.scope().run(s -> {
            s.use(() -> lab.note("first closed"));
            s.use(() -> lab.note("second closed"));
            Fork<Integer> unused = s.fork(() -> {
                lab.sleep("fork", ofSeconds(3));
                return 1;
            });
        });

        assertThat(lab.trail()).containsExactly("3s fork slept", "3s second closed", "3s first closed");
    }

    @Test
    @Catalogue(144)
    void they_are_closed_too_when_the_scope_fails() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    s.use(() -> lab.note("closed"));
                    Fork<Integer> unused = s.fork(() -> {
                        throw new IOException("boom");
                    });
                    lab.sleep("body", ofSeconds(3));
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasNoSuppressedExceptions();

        assertThat(lab.trail()).containsExactly("0s body cut off", "0s closed");
    }

    @Test
    @Catalogue(145)
    void one_that_throws_keeps_no_other_from_closing_and_is_thrown_if_nothing_else_is() {
        IOException first = new IOException("first");
        IOException second = new IOException("second");

        ScopeFailedException e = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope("page").run(s -> {
                    s.use(() -> lab.note("closed"));
                    s.use(() -> {
                        throw second;
                    });
                    s.use(() -> {
                        throw first;
                    });
                }));

        assertThat(e)
                .hasMessage(
                        "closing a resource of the scope \"page\" threw java.io.IOException: first (and 1 more failure)")
                .hasCause(first);
        assertThat(e.failures()).containsExactly(first, second);
        assertThat(e.getSuppressed()).containsExactly(second);
        assertThat(lab.trail()).containsExactly("0s closed");
    }

    @Test
    @Catalogue(145)
    void it_is_suppressed_in_what_the_library_throws_and_reported_beside_what_the_body_throws() {
        IOException closing = new IOException("closing");

        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(1)).run(s -> {
                    s.use(() -> {
                        throw closing;
                    });
                    lab.sleep("body", ofSeconds(3));
                }))
                .isInstanceOf(DeadlineExceededException.class)
                .hasSuppressedException(closing);
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    s.use(() -> {
                        throw closing;
                    });
                    throw new IllegalStateException("body");
                }))
                .hasMessage("body")
                .hasNoSuppressedExceptions();

        assertThat(lab.unhandled()).containsExactly(closing);
    }

    @Test
    @Catalogue(148)
    void when_the_outermost_block_has_ended_the_thread_has_no_ledger_left() {
        int inside = lab.scope().call(() -> {
            assertThat(Here.ledger()).isNotNull();
            return lab.scope().call(() -> 1);
        });

        assertThat(inside).isEqualTo(1);
        assertThat(Here.ledger()).isNull();
    }
}
