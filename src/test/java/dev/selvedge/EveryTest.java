package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is done again and again. */
@Timeout(60)
class EveryTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    void it_runs_after_one_period_and_at_each_multiple() {
        lab.scope().run(s -> {
            Selvedge.sleep(ofMillis(500));
            s.every(ofSeconds(2), () -> lab.note("tick"));
            lab.sleep("body", ofSeconds(7));
        });

        assertThat(lab.trail()).containsExactly("2.5s tick", "4.5s tick", "6.5s tick", "7.5s body slept");
    }

    @Test
    void it_does_not_drift_when_the_action_takes_time() {
        lab.scope().run(s -> {
            s.every(ofSeconds(2), () -> {
                lab.note("tick");
                Selvedge.sleep(ofMillis(1500));
            });
            Selvedge.sleep(ofSeconds(9));
        });

        assertThat(lab.trail()).containsExactly("2s tick", "4s tick", "6s tick", "8s tick");
    }

    @Test
    void moments_that_pass_while_the_action_runs_are_left_out() {
        lab.scope().run(s -> {
            s.every(ofSeconds(2), () -> {
                lab.note("tick");
                Selvedge.sleep(ofSeconds(5));
            });
            Selvedge.sleep(ofSeconds(21));
        });

        assertThat(lab.trail()).containsExactly("2s tick", "8s tick", "14s tick", "20s tick");
    }

    @Test
    void one_slow_run_does_not_move_those_after_it() {
        AtomicInteger runs = new AtomicInteger();

        lab.scope().run(s -> {
            s.every(ofSeconds(1), () -> {
                lab.note("tick");
                if (runs.incrementAndGet() == 2) {
                    Selvedge.sleep(ofMillis(2300));
                }
            });
            Selvedge.sleep(ofMillis(6500));
        });

        assertThat(lab.trail()).containsExactly("1s tick", "2s tick", "5s tick", "6s tick");
    }

    @Test
    void an_action_that_takes_just_its_period_runs_at_each_multiple() {
        lab.scope().run(s -> {
            s.every(ofSeconds(1), () -> {
                lab.note("tick");
                Selvedge.sleep(ofSeconds(1));
            });
            Selvedge.sleep(ofMillis(4500));
        });

        assertThat(lab.trail()).containsExactly("1s tick", "2s tick", "3s tick", "4s tick");
    }

    @Test
    void it_ends_when_the_body_and_the_forks_have_ended() {
        lab.scope().run(s -> {
            s.every(ofSeconds(2), () -> lab.note("tick"));
            Fork<?> unused = s.fork(() -> lab.sleep("fork", ofSeconds(5)));
        });

        assertThat(lab.trail()).containsExactly("2s tick", "4s tick", "5s fork slept");
        assertThat(lab.now()).isEqualTo(ofSeconds(5));
    }

    @Test
    void several_run_beside_each_other() {
        lab.scope().run(s -> {
            s.every(ofSeconds(2), () -> lab.note("two"));
            s.every(ofSeconds(3), () -> lab.note("three"));
            Selvedge.sleep(ofSeconds(5));
        });

        assertThat(lab.trail()).containsExactly("2s two", "3s three", "4s two");
    }

    @Test
    void an_action_that_throws_makes_the_scope_fail() {
        IOException boom = new IOException("boom");
        AtomicInteger runs = new AtomicInteger();

        assertThatThrownBy(() -> lab.scope("page").run(s -> {
                    s.every(ofSeconds(1), () -> {
                        lab.note("tick");
                        if (runs.incrementAndGet() == 3) {
                            throw boom;
                        }
                    });
                    lab.sleep("body", ofSeconds(9));
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"daemon-1\" threw java.io.IOException: boom")
                .hasCause(boom);

        assertThat(lab.trail()).containsExactly("1s tick", "2s tick", "3s tick", "3s body cut off");
    }

    @Test
    void a_cancel_ends_it_between_two_runs() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    s.every(ofSeconds(2), () -> lab.note("tick"));
                    Fork<?> unused = s.fork(() -> {
                        Selvedge.sleep(ofSeconds(3));
                        assertThat(s.cancel("enough")).isTrue();
                    });
                    lab.sleep("body", ofSeconds(9));
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");

        assertThat(lab.trail()).containsExactly("2s tick", "3s body cut off");
    }

    @Test
    void a_cancel_ends_it_in_a_run() {
        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(3)).run(s -> {
                    s.every(ofSeconds(2), () -> lab.sleep("action", ofSeconds(2)));
                    Selvedge.sleep(ofSeconds(9));
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactly("3s action cut off");
    }

    @Test
    void after_a_cancel_it_never_runs() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    assertThat(s.cancel("enough")).isTrue();
                    s.every(ofNanos(1), () -> lab.note("tick"));
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(lab.trail()).isEmpty();
    }

    @Test
    void a_period_too_long_to_count_means_never() {
        lab.scope().run(s -> {
            s.every(ofSeconds(Long.MAX_VALUE), () -> lab.note("never"));
            s.every(ofNanos(Long.MAX_VALUE), () -> lab.note("never"));
            s.every(Duration.ofDays(365 * 292), () -> lab.note("in 292 years"));
            lab.sleep("body", Duration.ofDays(365 * 200));
        });

        assertThat(lab.trail()).hasSize(1).first().asString().endsWith("s body slept");
    }

    @Test
    @Tag("real")
    void a_period_too_long_to_count_means_never_in_real_time_too() {
        CountDownLatch ticked = new CountDownLatch(3);

        lab.realScope().run(s -> {
            s.every(ofSeconds(Long.MAX_VALUE), () -> lab.note("never"));
            s.every(ofNanos(Long.MAX_VALUE), () -> lab.note("never"));
            s.every(ofMillis(1), ticked::countDown);
            ticked.await();
        });

        assertThat(lab.trail()).isEmpty();
    }

    @Test
    void a_period_that_is_none_is_refused() {
        lab.scope().run(s -> {
            assertThatThrownBy(() -> s.every(ZERO, () -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("period must be positive: PT0S");
            assertThatThrownBy(() -> s.every(ofSeconds(-1), () -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("period must be positive: PT-1S");
            assertThatThrownBy(() -> s.every(null, () -> {}))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("period");
            assertThatThrownBy(() -> s.every(ofSeconds(1), null))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("action");
        });

        assertThat(lab.events(ScopeEvent.ForkCreated.class)).isEmpty();
    }

    @Test
    void only_the_owner_can_start_it() {
        lab.scope("page").run(s -> {
            Fork<?> fork = s.fork(() -> assertThatThrownBy(() -> s.every(ofSeconds(1), () -> {}))
                    .isInstanceOf(WrongThreadException.class)
                    .hasMessage("only the thread that opened the scope \"page\" can start a daemon in it:"
                            + " open a scope of its own here, scope().run(s -> ...)"));
            fork.join();
        });
    }
}
