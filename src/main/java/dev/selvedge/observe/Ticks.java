package dev.selvedge.observe;

import java.util.List;

/** Times in parts. */
final class Ticks {

    private static final int MOST = 5;

    private Ticks() {}

    /** The length between two lines of the axis: 1, 2 or 5 of some power of ten, or such a part of a minute or hour. */
    static long step(long length) {
        long least = Math.max(1, length / MOST + (length % MOST == 0 ? 0 : 1));
        long second = 1_000_000_000;
        for (long s :
                new long[] {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 18_000, 43_200, 86_400}) {
            if (least > second / 2 && s * second >= least) {
                return s * second;
            }
        }
        long step = 1;
        int[] factors = {1, 2, 5};
        for (int i = 0; step * factors[i % 3] < least; i++) {
            if (i % 3 == 2) {
                if (step > Long.MAX_VALUE / 100) {
                    return Math.max(1, length);
                }
                step *= 10;
            }
        }
        int i = 0;
        while (step * factors[i] < least) {
            i++;
        }
        return step * factors[i];
    }

    /** How many of them ran, in each of so many equal parts of a time. */
    static int[] running(List<Span> spans, long from, long to, int parts) {
        int[] change = new int[parts + 1];
        for (Span s : spans) {
            change[part(s.start(), from, to, parts)]++;
            change[part(s.end(), from, to, parts) + 1]--;
        }
        int[] running = new int[parts];
        int n = 0;
        for (int i = 0; i < parts; i++) {
            n += change[i];
            running[i] = n;
        }
        return running;
    }

    private static int part(long moment, long from, long to, int parts) {
        return to == from ? 0 : Math.min(parts - 1, (int) ((double) (moment - from) / (to - from) * parts));
    }
}
