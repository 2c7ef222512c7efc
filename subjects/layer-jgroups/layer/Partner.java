package layer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A member's process, as the leader sees it. */
final class Partner {
    private final int rank;
    private final Process process;
    private final BufferedReader answers;

    /** Starts it on a processor, -1: on any, with this virtual machine's options. It ends when this process does, which closes its standard input. */
    Partner(int rank, int processor) throws IOException {
        this.rank = rank;
        List<String> command = new ArrayList<>();
        if (processor >= 0) {
            command.addAll(List.of("taskset", "-c", Integer.toString(processor)));
        }
        ProcessHandle.Info own = ProcessHandle.current().info();
        command.add(own.command().orElse("java"));
        Arrays.stream(own.arguments().orElse(new String[0])).filter(word -> word.startsWith("-X")).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "layer.Member"));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    String number() {
        return Long.toString(process.pid());
    }

    void order(String order) throws IOException {
        process.getOutputStream().write((order + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    String answer() throws IOException {
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("member " + rank + " has ended; it said why on standard error");
        }
        return answer;
    }

    String ask(String order) throws IOException {
        order(order);
        return answer();
    }

    void end() {
        process.destroyForcibly();
    }
}
