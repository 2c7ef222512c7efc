package kit;

import java.io.IOException;
import java.util.List;

/** An operation whose latency is measured, one at a time. */
public interface Operation extends AutoCloseable {
    /** When it started and when it ended, ns of {@link System#nanoTime}. */
    record Sample(long start, long end) {}

    Sample operate() throws Exception;

    /** As {@link Frames#reports}. */
    default List<String> reports() throws Exception {
        return List.of();
    }

    @Override
    default void close() throws IOException {}
}
