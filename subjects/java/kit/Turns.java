package kit;

import java.io.IOException;

/** A loop with a clock reading after each turn. An {@link OutOfMemoryError} ends it as the protocol means it. */
public interface Turns extends AutoCloseable {
    /** One turn; {@code index} counts from 1. */
    void turn(long index) throws Exception;

    @Override
    default void close() throws IOException {}
}
