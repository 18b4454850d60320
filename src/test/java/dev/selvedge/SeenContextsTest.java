package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.policy.RealThreads;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is known of all contexts of a process. */
@Timeout(60)
class SeenContextsTest {

    @Test
    void all_are_plain_once_the_defaults_are_known_and_until_there_is_another_one() {
        Context.Seen seen = new Context.Seen();

        assertThat(seen.onlyPlain()).isFalse();
        seen.defaults();
        assertThat(seen.onlyPlain()).isTrue();
        seen.another();
        assertThat(seen.onlyPlain()).isFalse();
        seen.defaults();
        assertThat(seen.onlyPlain()).isFalse();
    }

    @Test
    void defaults_that_have_a_listener_are_not_plain() {
        Context.Seen seen = new Context.Seen();

        seen.another();
        seen.defaults();

        assertThat(seen.onlyPlain()).isFalse();
    }

    /** One thread finds the defaults while another one, that knows them already, makes a context with a listener and calls. */
    @Test
    @Tag("stress")
    void whoever_has_made_another_one_never_finds_all_plain() throws Exception {
        int rounds = 300_000;
        Context.Seen[] all = Stream.generate(Context.Seen::new).limit(rounds).toArray(Context.Seen[]::new);
        AtomicInteger[] at = {new AtomicInteger(), new AtomicInteger()};
        AtomicInteger wrong = new AtomicInteger();

        RealThreads.each(2, t -> () -> {
            for (int i = 0; i < rounds; i++) {
                at[t].set(i);
                for (int spins = 0; at[1 - t].get() < i; spins++) {
                    Frame.spin(spins);
                }
                if (t == 0) {
                    all[i].defaults();
                } else {
                    all[i].another();
                    wrong.addAndGet(all[i].onlyPlain() ? 1 : 0);
                }
            }
            at[t].set(rounds);
        });

        assertThat(wrong).hasValue(0);
    }
}
