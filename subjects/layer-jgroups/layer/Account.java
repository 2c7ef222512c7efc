package layer;

import java.nio.ByteBuffer;

/**
 * What a member has delivered: how many messages, the sum of one and its number for each, and a figure of their order and senders that is the same
 * for two members only if they delivered the same in the same order.
 */
record Account(long count, long sum, long order) {
    static final Account EMPTY = new Account(0, 0, 0);

    /** FNV's prime of 64 bits. */
    private static final long MIXER = 0x100000001b3L;

    Account with(int sender, long number) {
        return new Account(count + 1, sum + 1 + number, ((order ^ sender) * MIXER ^ number) * MIXER);
    }

    byte[] bytes() {
        return ByteBuffer.allocate(3 * Long.BYTES).putLong(count).putLong(sum).putLong(order).array();
    }

    static Account of(byte[] bytes, int offset, int length) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes, offset, length);
        return new Account(buffer.getLong(), buffer.getLong(), buffer.getLong());
    }
}
