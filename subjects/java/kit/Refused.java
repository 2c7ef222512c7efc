package kit;

/** A request that is not served: a code of the protocol and why. */
final class Refused extends Exception {
    private static final long serialVersionUID = 1L;

    final String code;

    Refused(String code, String text) {
        super(text);
        this.code = code;
    }

    static Refused badArgument(String text) {
        return new Refused("bad-argument", text);
    }
}
