package layer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.Event;
import org.jgroups.JChannel;
import org.jgroups.PhysicalAddress;
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

/** The protocols: total order by a sequencer over connections of loopback. */
final class Stack {
    /** How long the first member looks for others, which are not there. */
    private static final long ALONE_MS = 1;

    private static final long JOIN_MS = 10_000;

    /** All leave at once, and nobody needs to be told. */
    private static final long LEAVE_MS = 100;

    private static final int PORTS_TRIED = 50;

    private Stack() {}

    /** A channel that founds a group, or with the port of its founder one that joins it. */
    static JChannel channel(int founderPort) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        List<PhysicalAddress> founder = new ArrayList<>();
        if (founderPort > 0) {
            founder.add(new IpAddress(loopback, founderPort));
        }
        TCP transport = new TCP();
        transport.setBindAddress(loopback);
        transport.setBindPort(freePort());
        // Should somebody else have taken it meanwhile.
        transport.setPortRange(PORTS_TRIED);
        // Else a message waits until the one before it has been acknowledged, which takes the system 40 ms.
        transport.tcpNodelay(true);
        return new JChannel(
                transport,
                new TCPPING().setInitialHosts2(founder).setPortRange(0),
                new FD_SOCK2().setBindAddress(loopback),
                new VERIFY_SUSPECT2(),
                new NAKACK2().useMcastXmit(false),
                new UNICAST3(),
                new STABLE(),
                new GMS().printLocalAddress(false).setLeaveTimeout(LEAVE_MS).setJoinTimeout(founderPort > 0 ? JOIN_MS : ALONE_MS),
                new UFC(),
                new MFC(),
                new SEQUENCER(),
                new FRAG2());
    }

    /** JGroups does not let the system give a port where members are found by TCPPING. */
    private static int freePort() throws IOException {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return any.getLocalPort();
        }
    }

    static int port(JChannel connected) {
        return ((IpAddress) connected.down(new Event(Event.GET_PHYSICAL_ADDRESS, connected.getAddress()))).getPort();
    }
}
