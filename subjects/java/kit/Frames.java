package kit;

import java.io.IOException;
import java.util.List;

/**
 * A control loop and a test loop, alike but for what is measured. Both go round {@code iterations} times and give a checksum (64 bits, without
 * sign) that depends on the work done, equal for equal iterations. They are timed: no output, no set-up. An exception is the failure of the test.
 */
public interface Frames extends AutoCloseable {
    long control(long iterations) throws Exception;

    long test(long iterations) throws Exception;

    /** Untimed, after each slice: gives back what the slice took. */
    default void reset() throws Exception {}

    /** Untimed, before and after what is timed: the reports of partners in other processes, each as the text of a {@link Report}. */
    default List<String> reports() throws Exception {
        return List.of();
    }

    /** After the last slice. */
    @Override
    default void close() throws IOException {}
}
