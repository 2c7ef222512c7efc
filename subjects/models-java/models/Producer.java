package models;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** One producer, one consumer, one slot. */
final class Producer {
    private Producer() {}

    /** A blocking queue with one place. */
    static String concurrent(int[] arguments, Models.Account account) {
        int items = arguments[0];
        int work = arguments[1];
        BlockingQueue<Integer> slot = new ArrayBlockingQueue<>(1);
        int[] sum = new int[1];
        Team.run(2, own -> Team.uninterrupted(() -> {
            for (int i = 1; i <= items; i++) {
                if (own == 0) {
                    slot.put(Work.compute(i, work));
                } else {
                    sum[0] = sum[0] * 31 + Work.compute(slot.take(), work);
                }
            }
        }));
        return told(items, sum[0]);
    }

    /** A slot that both look at until their turn has come. */
    private static final class Slot {
        int item;
        boolean full;
        int sum;
    }

    static String cooperative(int[] arguments, Models.Account account) {
        int items = arguments[0];
        int work = arguments[1];
        Slot slot = new Slot();
        Team.run(2, own -> {
            if (own == 0) {
                produce(slot, items, work);
            } else {
                consume(slot, items, work);
            }
        });
        return told(items, slot.sum);
    }

    private static void produce(Slot slot, int items, int work) {
        for (int i = 1; i <= items; i++) {
            int item = Work.compute(i, work);
            while (slot.full) {
                Thread.yield();
            }
            slot.item = item;
            slot.full = true;
        }
    }

    private static void consume(Slot slot, int items, int work) {
        for (int i = 1; i <= items; i++) {
            while (!slot.full) {
                Thread.yield();
            }
            int item = slot.item;
            slot.full = false;
            slot.sum = slot.sum * 31 + Work.compute(item, work);
        }
    }

    private static String told(int items, int sum) {
        return "items " + items + " sum " + Integer.toUnsignedString(sum);
    }
}
