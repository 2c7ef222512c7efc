import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.LogManager;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.PhysicalAddress;
import org.jgroups.Receiver;
import org.jgroups.protocols.FD_SOCK2;
import org.jgroups.protocols.FRAG2;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.SEQUENCER;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.MessageBatch;

/**
 * One member of a group ordered by SEQUENCER: {@code java Member RANK PORT...}, with a loopback port
 * for each member. It reads rounds from its standard input.
 */
final class Member implements Receiver {
    private static final int BYTES = 100;

    private final JChannel channel;
    private final int rank;
    private final int size;
    private volatile long delivered;
    private volatile long own;
    private volatile Thread waiting;
    private long expected;
    private long sent;

    private Member(int rank, int[] ports) throws Exception {
        this.rank = rank;
        size = ports.length;
        InetAddress loopback = InetAddress.getLoopbackAddress();
        List<PhysicalAddress> hosts = new ArrayList<>();
        for (int port : ports) {
            hosts.add(new IpAddress(loopback, port));
        }
        TCP transport = new TCP();
        transport.setBindAddress(loopback);
        transport.setBindPort(ports[rank]);
        transport.setPortRange(0);
        channel =
                new JChannel(
                        transport,
                        new TCPPING().setInitialHosts2(hosts).setPortRange(0),
                        new FD_SOCK2().setBindAddress(loopback),
                        new VERIFY_SUSPECT2(),
                        new NAKACK2().useMcastXmit(false),
                        new UNICAST3(),
                        new STABLE(),
                        new GMS().setJoinTimeout(3000),
                        new UFC(),
                        new MFC(),
                        new SEQUENCER(),
                        new FRAG2());
        channel.setReceiver(this);
        channel.connect("bench");
    }

    @Override
    public void receive(Message message) {
        count(message);
        wake();
    }

    @Override
    public void receive(MessageBatch batch) {
        for (Message message : batch) {
            count(message);
        }
        wake();
    }

    /** SEQUENCER delivers messages by one thread at a time. */
    private synchronized void count(Message message) {
        byte[] body = message.getArray();
        delivered++;
        if (body[message.getOffset()] == rank) {
            own++;
        }
    }

    private void wake() {
        Thread thread = waiting;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    private void send() throws Exception {
        byte[] body = new byte[BYTES];
        body[0] = (byte) rank;
        sent++;
        channel.send(new BytesMessage(null, body));
    }

    private String play(String line) throws Exception {
        String[] words = line.split(" ");
        int last = Integer.parseInt(words[words.length - 1]);
        switch (words[0]) {
            case "rate":
                expected += (long) last * size;
                return rate(last);
            case "alone":
                expected += last;
                return Integer.parseInt(words[1]) == rank ? trips(last) : "";
            case "together":
                expected += (long) last * size;
                return trips(last);
            default:
                throw new IllegalArgumentException("no round " + line);
        }
    }

    private String rate(int count) throws Exception {
        long began = System.nanoTime();
        for (int i = 0; i < count; i++) {
            send();
        }
        waiting = Thread.currentThread();
        while (delivered < expected) {
            LockSupport.park(this);
        }
        return Long.toString(System.nanoTime() - began);
    }

    private String trips(int count) throws Exception {
        StringJoiner times = new StringJoiner(" ");
        waiting = Thread.currentThread();
        for (int i = 0; i < count; i++) {
            long began = System.nanoTime();
            send();
            while (own < sent) {
                LockSupport.park(this);
            }
            times.add(Long.toString(System.nanoTime() - began));
        }
        return times.toString();
    }

    public static void main(String[] arguments) throws Exception {
        int[] ports = Arrays.stream(arguments).skip(1).mapToInt(Integer::parseInt).toArray();
        // JGroups logs each protocol that it starts.
        LogManager.getLogManager().reset();
        Member member = new Member(Integer.parseInt(arguments[0]), ports);
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(member.play(line));
        }
        System.exit(0);
    }
}
