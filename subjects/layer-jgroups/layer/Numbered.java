package layer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Messages that carry their number in their first eight bytes; shorter ones carry none. */
final class Numbered {
    /** The longest message. */
    static final long MOST_BYTES = 16 << 20;

    private static final VarHandle NUMBER = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Numbered() {}

    static byte[] message(int bytes, long number) {
        byte[] message = new byte[bytes];
        if (bytes >= Long.BYTES) {
            NUMBER.set(message, 0, number);
        }
        return message;
    }

    static long number(byte[] message, int offset, int length) {
        return length < Long.BYTES ? 0 : (long) NUMBER.get(message, offset);
    }
}
