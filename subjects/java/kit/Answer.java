package kit;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Lines to the laboratory: put together in memory, and written at once when they are whole. */
final class Answer {
    // A line stays below 65536 bytes: a reading or difference takes 21 at most.
    private static final int READINGS_A_LINE = 3000;
    private static final FileOutputStream OUTPUT = new FileOutputStream(FileDescriptor.out);

    private final StringBuilder text = new StringBuilder();

    void line(String format, Object... values) {
        text.append("@@ ").append(values.length == 0 ? format : String.format(format, values)).append('\n');
    }

    void readings(long[] readings, int count) {
        for (int i = 0; i < count; i++) {
            if (i % READINGS_A_LINE == 0) {
                text.append(i > 0 ? "\n" : "").append("@@ readings ").append(readings[i]);
            } else {
                text.append(' ').append(readings[i] - readings[i - 1]);
            }
        }
        text.append('\n');
    }

    void close() throws IOException {
        line("ok");
        write(text.toString());
    }

    static void refuse(String code, String why) throws IOException {
        String plain = why.replaceAll("\\p{Cntrl}", " ");
        write("@@ error " + code + " " + plain.substring(0, Math.min(plain.length(), 1000)) + "\n");
    }

    private static void write(String text) throws IOException {
        OUTPUT.write(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A field's value, with %XX where the protocol wants it. */
    static String encode(String value) {
        StringBuilder encoded = new StringBuilder();
        for (char c : value.toCharArray()) {
            if (c <= ' ' || c == '%' || c == '=' || c == 0x7f) {
                encoded.append(String.format("%%%02X", (int) c));
            } else {
                encoded.append(c);
            }
        }
        return encoded.toString();
    }
}
