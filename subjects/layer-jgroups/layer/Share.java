package layer;

/** A member's share of what all send together: every so-manieth message. */
final class Share {
    private Share() {}

    static void send(Ordered ordered, int bytes, int rank, int size, long messages) throws Exception {
        for (long number = rank; number < messages; number += size) {
            ordered.send(bytes, number);
        }
    }
}
