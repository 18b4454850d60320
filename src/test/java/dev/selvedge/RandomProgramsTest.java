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

    /** More, or others, by system properties. */
    private static final int PROGRAMS = Integer.getInteger("selvedge.programs", 10_000);

    private static final int FIRST = Integer.getInteger("selvedge.seed", 0);

    @Test
    @Catalogue(165)
    void ten_thousand_random_programs_give_the_same_trail_twice() {
        int differ = 0;
        long steps = 0;
        for (int seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
            List<String> once = run(seed);
            List<String> again = run(seed);
            steps += once.size();
            if (!once.equals(again)) {
                differ++;
                assertThat(again)
                        .as("the trail of the program with seed " + seed)
                        .isEqualTo(once);
            }
        }
        System.out.println("random programs: " + PROGRAMS + " twice, " + steps + " steps, " + differ + " differ");
        assertThat(steps).isGreaterThan(PROGRAMS * 10L);
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

        // everything that is awaited comes from inside
        private final VirtualClock clock = VirtualClock.jumping().withGrace(Duration.ZERO);
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
            int some = 1 + random.nextInt(kids.size());
            int millis = random.nextInt(5);
            return switch (random.nextInt(13)) {
                case 0 -> () -> spec.race(kids);
                case 1 -> () -> spec.outcomes(kids, Callable::call).values().size();
                case 2 -> () -> spec.attempt(kids.get(0)).orElse(-1);
                case 3 -> () -> spec.call(s -> cancelled(s, kids, cancelAfter));
                case 4 -> () -> spec.isolated().call(s -> joined(s, kids));
                case 5 -> () -> spec.quorum(some, kids).size();
                case 6 -> () -> spec.outcomes(kids).size();
                case 7 -> () -> spec.call(s -> withDaemons(s, kids, millis));
                case 8 -> () -> spec.call(s -> withActions(s, kids, cancelAfter));
                case 9 -> () -> spec.call(s -> timelyOnly(s, kids, millis));
                case 10 -> () -> spec.call(s -> handedOver(s, kids.get(0)));
                case 11 -> () -> spec.call(() -> Selvedge.shielded(() -> shielded(kids.get(0))));
                default -> () -> spec.gather(kids).size();
            };
        }

        private Integer withDaemons(Scope s, List<Callable<Integer>> kids, int millis) {
            s.daemon(() -> {
                try {
                    Selvedge.sleep(Duration.ofSeconds(1));
                } finally {
                    note("daemon ends");
                }
            });
            s.every(Duration.ofMillis(1 + millis), () -> note("tick"));
            kids.forEach(s::fork);
            return kids.size();
        }

        private Integer withActions(Scope s, List<Callable<Integer>> kids, int after) {
            s.onCancel(() -> note("first action"));
            s.onCancel(() -> {
                note("second action");
                Selvedge.sleep(Duration.ofMillis(1));
                note("second action done");
            });
            return cancelled(s, kids, after);
        }

        private Integer timelyOnly(Scope s, List<Callable<Integer>> kids, int millis) {
            int sum = 0;
            for (Fork<Integer> f : kids.stream().map(k -> s.<Integer>fork(k)).toList()) {
                try {
                    sum += f.join(Duration.ofMillis(millis));
                } catch (DeadlineExceededException e) {
                    note(e.getMessage());
                }
            }
            return sum;
        }

        private Integer handedOver(Scope s, Callable<Integer> kid) throws Exception {
            return Selvedge.await(s.fork(kid).toCompletableFuture().thenApply(v -> v + 1));
        }

        private Integer shielded(Callable<Integer> kid) throws Exception {
            note("shield begins");
            Integer value = kid.call();
            note("shield ends");
            return value;
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
