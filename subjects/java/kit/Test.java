package kit;

import java.util.Map;
import java.util.TreeMap;

/** A test that a subject lists: its name, how it is prepared, and what {@code list} says of it besides. */
public final class Test {
    /** Makes what a test works on, from its argument (0 if it takes none). */
    @FunctionalInterface
    public interface Preparation<T> {
        T prepare(long argument) throws Exception;
    }

    enum Kind {
        FRAME,
        LATENCY,
        SERIES;

        String word() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    final String name;
    final Kind kind;
    private final Preparation<? extends AutoCloseable> preparation;
    private final Map<String, String> said = new TreeMap<>();

    private Test(String name, Kind kind, Preparation<? extends AutoCloseable> preparation) {
        this.name = name;
        this.kind = kind;
        this.preparation = preparation;
    }

    /** A cost per operation. */
    public static Test frame(String name, Preparation<? extends Frames> preparation) {
        return new Test(name, Kind.FRAME, preparation);
    }

    /** A distribution. */
    public static Test latency(String name, Preparation<? extends Operation> preparation) {
        return new Test(name, Kind.LATENCY, preparation);
    }

    /** Clock readings of a loop. */
    public static Test series(String name, Preparation<? extends Turns> preparation) {
        return new Test(name, Kind.SERIES, preparation);
    }

    /** The unit of the argument: ns, bytes or count. */
    public Test arg(String unit) {
        return say("arg", unit);
    }

    /** Context switches of an operation under placement same. */
    public Test switches(String count) {
        return say("switches", count);
    }

    /** How many threads take part in one operation. */
    public Test threads(int count) {
        return say("threads", Integer.toString(count));
    }

    /** The key of equal work across subjects. */
    public Test work(String key) {
        return say("work", key);
    }

    /** The most iterations that a slice may have. */
    public Test most(long iterations) {
        return say("most", Long.toString(iterations));
    }

    /** Why the test cannot run here, and what would mend it. */
    public Test absent(String why) {
        return say("absent", why);
    }

    private Test say(String key, String value) {
        said.put(key, value);
        return this;
    }

    AutoCloseable prepare(long argument) throws Exception {
        return preparation.prepare(argument);
    }

    String listed() {
        StringBuilder line = new StringBuilder("test name=" + name + " kind=" + kind.word());
        said.forEach((key, value) -> line.append(' ').append(key).append('=').append(Answer.encode(value)));
        return line.toString();
    }

    void check(String key, long iterations) throws Refused {
        String most = said.get("most");
        if (most != null && iterations > Long.parseLong(most)) {
            throw Refused.badArgument(key + "=" + iterations + ": " + name + " keeps what it takes until the slice ends; at most " + most);
        }
    }

    /** The request's argument, if the test takes one. */
    long argument(Request request) throws Refused {
        if (said.containsKey("arg")) {
            return request.number("arg", 0, Long.MAX_VALUE);
        }
        if (request.has("arg")) {
            throw Refused.badArgument(name + " takes no argument");
        }
        return 0;
    }

    /** Refuses a test that cannot run, or is of another kind. */
    Test asked(Kind wanted) throws Refused {
        if (said.containsKey("absent")) {
            throw new Refused("unsupported", name + ": " + said.get("absent"));
        }
        if (kind != wanted) {
            throw Refused.badArgument(name + " is a " + kind.word() + " test, not a " + wanted.word() + " test");
        }
        return this;
    }
}
