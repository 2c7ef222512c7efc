package layer;

import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.LongMessage;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.util.MessageBatch;

/**
 * One member's end of the ordered group. Three kinds of message pass through it: bytes to all, which are measured; numbers to all, by which the
 * leader begins and closes accounts at one place of the order; and accounts, which members tell the leader alone.
 */
final class Ordered implements Receiver, AutoCloseable {
    /** What happens; called by JGroups' threads, and must not wait. */
    interface Side {
        /** The leader asked for so many messages of all members together. */
        void turn(long messages);

        /** This member's account is whole. */
        void complete(Account own);

        /** Another member's. */
        void told(Account account);

        /** More of the leader's and others' messages have come. */
        void delivered();

        /** Somebody left. */
        void broken(String why);
    }

    /** In place of a number of messages: accounts are closed with what they have. */
    private static final long CLOSE = -1;

    private static final long NO_TARGET = -1;

    private final Side side;
    private final int size;
    private final JChannel channel;
    private volatile long delivered;
    private Account account = Account.EMPTY;
    private long target = NO_TARGET;
    private int most;

    /** Founds a group of {@code size} members, or joins the one whose founder has this port. */
    Ordered(Side side, int size, int founderPort) throws Exception {
        this.side = side;
        this.size = size;
        channel = Stack.channel(founderPort);
        channel.setReceiver(this);
        channel.connect("layer");
    }

    int port() {
        return Stack.port(channel);
    }

    /** Waits until all are in. */
    synchronized void meet(long limitMs) throws InterruptedException {
        long end = System.nanoTime() + limitMs * 1_000_000;
        while (most < size) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new IllegalStateException(most + " of " + size + " members are in the group after " + limitMs + " ms");
            }
            wait(left);
        }
    }

    /** Messages delivered since accounts were last begun. */
    long delivered() {
        return delivered;
    }

    /** A message of so many bytes, its number in the first eight of them if there are so many. */
    void send(int bytes, long number) throws Exception {
        channel.send(new BytesMessage(null, Numbered.message(bytes, number)));
    }

    /** Has all members begin their accounts, and close them when so many messages have come. */
    void turn(long messages) throws Exception {
        channel.send(new LongMessage(null, messages));
    }

    /** Has all members close their accounts, and begin new ones. */
    void closeAccounts() throws Exception {
        channel.send(new LongMessage(null, CLOSE));
    }

    void tell(Address whom, Account own) throws Exception {
        channel.send(new BytesMessage(whom, own.bytes()));
    }

    /** The member of this place in the order of joining; the founder's is 0. */
    Address member(int place) {
        return channel.getView().getMembers().get(place);
    }

    @Override
    public void viewAccepted(View view) {
        boolean someoneLeft;
        synchronized (this) {
            someoneLeft = view.size() < most;
            most = Math.max(most, view.size());
            notifyAll();
        }
        if (someoneLeft) {
            side.broken("the group has " + view.size() + " members left of " + size);
        }
    }

    @Override
    public void receive(Message message) {
        take(message);
        side.delivered();
    }

    @Override
    public void receive(MessageBatch batch) {
        for (Message message : batch) {
            take(message);
        }
        side.delivered();
    }

    /** Ordered messages come by one thread at a time, the accounts of others by any. */
    private synchronized void take(Message message) {
        if (message.getDest() != null) {
            side.told(Account.of(message.getArray(), message.getOffset(), message.getLength()));
        } else if (message instanceof LongMessage word) {
            begin(word.getValue());
        } else {
            long number = Numbered.number(message.getArray(), message.getOffset(), message.getLength());
            account = account.with(message.getSrc().hashCode(), number);
            delivered = account.count();
            completeAt(target);
        }
    }

    private void begin(long messages) {
        if (messages == CLOSE) {
            completeAt(account.count());
            return;
        }
        account = Account.EMPTY;
        delivered = 0;
        target = messages;
        side.turn(messages);
        completeAt(target);
    }

    private void completeAt(long messages) {
        if (account.count() == messages) {
            Account whole = account;
            account = Account.EMPTY;
            delivered = 0;
            target = NO_TARGET;
            side.complete(whole);
        }
    }

    @Override
    public void close() {
        channel.close();
    }
}
