package models;

import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CyclicBarrier;

/** Jacobi iteration on a square grid, whose outermost rows and columns never change. */
final class Jacobi {
    private final int size;
    private final int workers;
    private final int iterations;
    private final double[][][] grids;
    private final double[] changes;

    private Jacobi(int[] arguments) {
        size = arguments[0];
        workers = arguments[1];
        iterations = arguments[2];
        grids = new double[2][size + 2][size + 2];
        for (double[][] grid : grids) {
            Arrays.fill(grid[0], 1.0);
        }
        changes = new double[workers];
    }

    /** The library's barrier. */
    static String concurrent(int[] arguments, Models.Account account) {
        CyclicBarrier barrier = new CyclicBarrier(arguments[1]);
        return new Jacobi(arguments).iterate(() -> Team.uninterrupted(barrier::await));
    }

    /** A barrier that counts, and gives way until the last has come. */
    static String cooperative(int[] arguments, Models.Account account) {
        int workers = arguments[1];
        int[] arrivedAndPhase = new int[2];
        return new Jacobi(arguments).iterate(() -> {
            int own = arrivedAndPhase[1];
            arrivedAndPhase[0]++;
            if (arrivedAndPhase[0] == workers) {
                arrivedAndPhase[0] = 0;
                arrivedAndPhase[1]++;
            }
            while (arrivedAndPhase[1] == own) {
                Thread.yield();
            }
        });
    }

    private String iterate(Runnable barrier) {
        Team.run(workers, own -> {
            int first = own * size / workers + 1;
            int last = (own + 1) * size / workers;
            for (int i = 0; i < iterations; i++) {
                changes[own] = sweep(grids[i % 2], grids[1 - i % 2], first, last);
                barrier.run();
            }
        });
        double sum = 0;
        double[][] grid = grids[iterations % 2];
        for (int i = 1; i <= size; i++) {
            for (int j = 1; j <= size; j++) {
                sum += grid[i][j];
            }
        }
        double largest = Arrays.stream(changes).max().orElse(0);
        return String.format(Locale.ROOT, "sum %.6f change %.9f", sum, largest);
    }

    private static double sweep(double[][] from, double[][] to, int first, int last) {
        double largest = 0;
        for (int i = first; i <= last; i++) {
            double[] above = from[i - 1];
            double[] own = from[i];
            double[] below = from[i + 1];
            double[] target = to[i];
            for (int j = 1; j < own.length - 1; j++) {
                target[j] = (above[j] + below[j] + own[j - 1] + own[j + 1]) * 0.25;
                largest = Math.max(largest, Math.abs(target[j] - own[j]));
            }
        }
        return largest;
    }
}
