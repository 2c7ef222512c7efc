package sql;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import kit.Subject;
import kit.Test;

/** Databases from Java, by JDBC. */
public final class Measured {
    private Measured() {}

    public static void main(String[] arguments) throws IOException {
        List<Test> tests = new ArrayList<>();
        tests.addAll(Reading.tests());
        tests.addAll(Writing.tests());
        tests.addAll(Clients.tests());
        new Subject("Java", tests).serve();
    }
}
