package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.time.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** On the virtual clock, what a program does is a function of the program: the same trail in every run. */
@Timeout(300)
@Tag("stress")
class RandomProgramsTest {

    private static final int PROGRAMS = 1_000;

    @Test
    @Catalogue(165)
    void a_thousand_random_programs_give_the_same_trail_twice() {
        int differ = 0;
        int steps = 0;
        for (int seed = 0; seed < PROGRAMS; seed++) {
            List<String> once = run(seed);
            List<String> again = run(seed);
            steps += once.size();
            if (!once.equals(again)) {
                differ++;
                assertThat(again).as("the trail of program " + seed).isEqualTo(once);
            }
        }
        System.out.println("random programs: " + PROGRAMS + " twice, " + steps + " steps, " + differ + " differ");
        assertThat(steps).isGreaterThan(PROGRAMS * 10);
    }

    private static List<String> run(int seed) {
        Program program = new Program(new Random(seed));
        String end;
        try {
            end = "value "
                    + Selvedge.scope("root")
                            .clock(program.clock)
                            .listener(program::heard)
                            .call(program.node(3));
        } catch (Exception e) {
            end = e.toString();
        }
        program.note("end " + end);
        assertThat(Thread.interrupted()).isFalse();
        return program.trail;
    }

    /** A tree of blocks: made from the seed before it runs, so that both runs do the same. */
    private static final class Program {

        private final VirtualClock clock = VirtualClock.jumping();
        private final List<String> trail = Collections.synchronizedList(new ArrayList<>());
        private final Random random;
        private int nodes;

        Program(Random random) {
            this.random = random;
        }

        void note(String what) {
            trail.add(clock.elapsed().toMillis() + " " + what);
        }

        void heard(ScopeEvent e) {
            note(e.toString());
        }

        Task<Integer, Exception> node(int depth) {
            String name = "n" + nodes++;
            int[] sleeps = random.ints(random.nextInt(4), 0, 4).toArray();
            boolean fails = random.nextInt(10) == 0;
            boolean stubborn = random.nextInt(8) == 0;
            ScopeSpec spec = Selvedge.scope(name);
            if (random.nextInt(3) == 0) {
                spec = spec.deadline(Duration.ofMillis(random.nextInt(8)));
            }
            Task<Integer, Exception> below = depth == 0 ? null : block(spec, depth - 1);
            return () -> {
                slept(name, sleeps, stubborn);
                int sum = below == null ? 1 : below.call();
                if (fails) {
                    throw new IllegalStateException(name);
                }
                note(name + " ok");
                return sum;
            };
        }

        private void slept(String name, int[] sleeps, boolean stubborn) {
            for (int s : sleeps) {
                try {
                    Selvedge.sleep(Duration.ofMillis(s));
                    note(name + " slept " + s);
                } catch (ScopeCancelledException e) {
                    note(name + " cut off: " + e.reason().kind());
                    if (!stubborn) {
                        throw e;
                    }
                }
            }
        }

        private Task<Integer, Exception> block(ScopeSpec spec, int depth) {
            List<Callable<Integer>> kids = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                kids.add(node(depth));
            }
            int cancelAfter = random.nextInt(6);
            return switch (random.nextInt(6)) {
                case 0 -> () -> spec.race(kids);
                case 1 -> () -> spec.outcomes(kids, Callable::call).values().size();
                case 2 -> () -> spec.attempt(kids.get(0)).orElse(-1);
                case 3 -> () -> spec.call(s -> cancelled(s, kids, cancelAfter));
                case 4 -> () -> spec.isolated().call(s -> joined(s, kids));
                default -> () -> spec.gather(kids).size();
            };
        }

        private Integer cancelled(Scope s, List<Callable<Integer>> kids, int after) {
            List<Fork<Integer>> forks =
                    kids.stream().map(k -> s.<Integer>fork(k)).toList();
            Fork<Boolean> unused = s.fork("canceller", () -> {
                Selvedge.sleep(Duration.ofMillis(after));
                return s.cancel("after " + after);
            });
            return s.gather(forks).size();
        }

        private Integer joined(Scope s, List<Callable<Integer>> kids) {
            int sum = 0;
            for (Fork<Integer> f : kids.stream().map(k -> s.<Integer>fork(k)).toList()) {
                try {
                    sum += f.join();
                } catch (ScopeFailedException e) {
                    note(e.getMessage());
                }
            }
            return sum;
        }
    }
}
