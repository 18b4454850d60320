package dev.selvedge.benchmarks.paired;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.ThreadMXBean;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.LongStream;

/**
 * One of the JVMs that {@link Paired} starts: the contenders in turn, round by round, so that what befalls this JVM, be it the
 * mode that its compilations have settled into or noise of the machine, befalls all alike.
 */
final class MeasuringJvm {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Keeps the allocations of the check from being optimised away. */
    private static volatile byte[] sink = {};

    private final Options options;
    private final List<Lane> lanes;

    private MeasuringJvm(Options options) {
        this.options = options;
        lanes = options.suite().contenders(options.sizes().getFirst()).stream()
                .map(c -> new Lane(c, options.rounds()))
                .toList();
    }

    /** Takes the file for the raw data, then the arguments of the runner with one size. */
    public static void main(String[] args) throws Exception {
        Options options = Options.parse(List.of(args).subList(1, args.length));
        requireVirtualThreadsToBeCounted();
        FutureTask<List<Measured>> measuring = new FutureTask<>(new MeasuringJvm(options)::measure);
        switch (options.owner()) {
            case VIRTUAL -> Thread.startVirtualThread(measuring);
            case PLATFORM -> measuring.run();
        }
        new ObjectMapper().writeValue(new File(args[0]), new JvmResult(Machine.here(), measuring.get()));
    }

    /** The counter is one of platform threads: what a virtual thread allocates must show at its carrier. */
    private static void requireVirtualThreadsToBeCounted() throws InterruptedException {
        int blocks = 1_000;
        int size = 1 << 16;
        long before = THREADS.getTotalThreadAllocatedBytes();
        Thread allocating = Thread.startVirtualThread(() -> {
            for (int i = 0; i < blocks; i++) {
                sink = new byte[size];
            }
        });
        allocating.join();
        long counted = THREADS.getTotalThreadAllocatedBytes() - before;
        long expected = (long) blocks * size;
        if (counted < expected || counted > expected + expected / 10) {
            throw new IllegalStateException(
                    "what virtual threads allocate is not counted right in this JVM: %,d bytes instead of %,d"
                            .formatted(counted, expected));
        }
    }

    /** Of all threads, carriers among them; the time of the process as a whole is counted in ticks, too coarse for a round. */
    private static long cpuNanos() {
        return LongStream.of(THREADS.getThreadCpuTime(THREADS.getAllThreadIds()))
                .filter(nanos -> nanos > 0) // else the thread has ended
                .sum();
    }

    private List<Measured> measure() throws Exception {
        requireSameResults();
        for (int round = 0; round < options.warmUp(); round++) {
            for (int turn = 0; turn < lanes.size(); turn++) {
                lane(round, turn).warmUp(options.roundMillis());
            }
        }
        for (int round = 0; round < options.rounds(); round++) {
            for (int turn = 0; turn < lanes.size(); turn++) {
                lane(round, turn).measure(round);
            }
        }
        return lanes.stream().map(Lane::measured).toList();
    }

    private void requireSameResults() throws Exception {
        long expected = lanes.getFirst().contender.work().run();
        for (Lane lane : lanes) {
            lane.expected = expected;
            lane.run();
        }
    }

    /** Every contender comes first in turn, and the order goes forwards and backwards: none has always the same one before it. */
    private Lane lane(int round, int turn) {
        int forwards = (round / 2 + turn) % lanes.size();
        return lanes.get(round % 2 == 0 ? forwards : lanes.size() - 1 - forwards);
    }

    /** A contender and its measurements. */
    private static final class Lane {

        private final Contender contender;
        private final double[] nanosPerCall;
        private final double[] cpuNanosPerCall;
        private final double[] bytesPerCall;
        private long expected;
        private long calls = 1;

        Lane(Contender contender, int rounds) {
            this.contender = contender;
            nanosPerCall = new double[rounds];
            cpuNanosPerCall = new double[rounds];
            bytesPerCall = new double[rounds];
        }

        /** A round that is not kept, but tells how many calls fill the time of one. */
        void warmUp(int roundMillis) throws Exception {
            double callsPerNano = calls / (double) run();
            calls = Math.max(1, Math.round(callsPerNano * roundMillis * 1e6));
        }

        void measure(int round) throws Exception {
            long bytes = THREADS.getTotalThreadAllocatedBytes();
            long cpu = cpuNanos();
            nanosPerCall[round] = run() / (double) calls;
            cpuNanosPerCall[round] = (cpuNanos() - cpu) / (double) calls;
            bytesPerCall[round] = (THREADS.getTotalThreadAllocatedBytes() - bytes) / (double) calls;
        }

        /** Gives the nanoseconds that it took. */
        private long run() throws Exception {
            long sum = 0;
            long start = System.nanoTime();
            for (long i = 0; i < calls; i++) {
                sum += contender.work().run();
            }
            long nanos = System.nanoTime() - start;
            if (sum != expected * calls) {
                throw new IllegalStateException("%s gave %d in %d calls, and the baseline %d in one"
                        .formatted(contender.name(), sum, calls, expected));
            }
            return nanos;
        }

        Measured measured() {
            return new Measured(contender.name(), calls, nanosPerCall, cpuNanosPerCall, bytesPerCall);
        }
    }
}
