use super::*;

const LARGEST: usize = 1400;
/// Bytes of a short message.
const SHORT: usize = 40;

/// Two ends of a link, and what was carried between them.
struct Two {
    now: Time,
    ends: [Retransmit; 2],
    /// Lengths of what came to the second, and how many frames with something in them.
    came: Vec<usize>,
    frames: usize,
}

impl Two {
    /// Two that have met.
    fn new() -> Self {
        let mut two = Self {
            now: Duration::from_secs(1),
            ends: [1, 2].map(|birth| Retransmit::new(LARGEST, birth)),
            came: Vec::new(),
            frames: 0,
        };
        let greeting = two.send(1);
        two.carry(greeting, |_| true);
        two.came.clear();
        two.frames = 0;
        two
    }

    fn send(&mut self, length: usize) -> Vec<Message> {
        let mut frames = Vec::new();
        self.ends[0].send(self.now, Message::from(vec![7; length]), &mut frames);
        frames
    }

    /// Carries frames to the second, those that arrive by their number, and what comes back, until
    /// nothing does for so long that all is acknowledged.
    fn carry(&mut self, first: Vec<Message>, arrives: impl Fn(usize) -> bool) {
        let mut there = first;
        for _ in 0..1000 {
            let (mut back, mut messages) = (Vec::new(), Vec::new());
            for frame in std::mem::take(&mut there) {
                self.frames += usize::from(frame.len() > HEADER);
                if arrives(self.frames) {
                    let taken = self.ends[1].receive(self.now, frame, &mut back, &mut messages);
                    taken.expect("well formed");
                }
            }
            self.ends[1].flush(self.now, &mut back);
            self.now += ACK_DELAY;
            self.ends[1].tick(self.now, &mut back);
            self.came.extend(messages.iter().map(Message::len));
            for frame in back {
                let taken = self.ends[0].receive(self.now, frame, &mut there, &mut messages);
                taken.expect("well formed");
            }
            self.ends[0].flush(self.now, &mut there);
            self.ends[0].tick(self.now, &mut there);
            if there.is_empty() && self.ends[0].backlog() == 0 {
                return;
            }
        }
        panic!("{} came", self.came.len());
    }
}

#[test]
fn what_need_not_wait_goes_at_once_and_by_itself() {
    let mut two = Two::new();
    for _ in 0..8 {
        let frames = two.send(SHORT);
        assert_eq!(frames.len(), 1);
        two.carry(frames, |_| true);
    }
    assert_eq!((two.came.len(), two.frames), (8, 8));
}

#[test]
fn short_messages_that_wait_share_frames_and_long_ones_do_not() {
    for arrives in [|_: usize| true, |frame| frame % 7 != 3] {
        let mut two = Two::new();
        let mut frames = Vec::new();
        let lengths: Vec<usize> = (0..1000)
            .map(|n| if n == 500 { 5000 } else { SHORT + n % 3 })
            .collect();
        lengths
            .iter()
            .for_each(|length| frames.extend(two.send(*length)));
        // The window was open for these.
        let alone = frames.len();
        assert!(alone < 32, "{alone}");
        two.carry(frames, arrives);
        assert_eq!(two.came, lengths);
        let full = LARGEST - HEADER;
        let shared = 1000 * (SHORT + 4) / (full - SHORT - 4) + 2;
        let most = alone + shared + 5000 / full + 1;
        let lost = two.frames.div_ceil(5);
        assert!(two.frames <= most + lost, "{} frames", two.frames);
    }
}

/// The system sends a run of datagrams at once only if all but the last are as long.
#[test]
fn all_pieces_of_a_long_message_but_the_last_fill_their_frames() {
    let frames = Two::new().send(10 * LARGEST);
    let (last, others) = frames.split_last().expect("some");
    assert!(others.len() > 8 && others.iter().all(|frame| frame.len() == LARGEST));
    assert!(last.len() < LARGEST);
}

#[test]
fn a_bundle_that_is_none_is_refused_and_changes_nothing() {
    let mut two = Two::new();
    let good = two.send(SHORT).pop().expect("one");
    let mut bad = good.clone();
    let mut header = Header::pop(&mut bad).expect("a header");
    header.kind = BUNDLE;
    // Its first two bytes are no length of what follows.
    header.push(&mut bad);
    let (mut back, mut messages) = (Vec::new(), Vec::new());
    let taken = two.ends[1].receive(two.now, bad, &mut back, &mut messages);
    assert!(taken.is_err() && back.is_empty() && messages.is_empty());
    two.carry(vec![good], |_| true);
    assert_eq!(two.came, [SHORT]);
}

/// Two ends over frames of so many bytes, which have met, and whose windows are as wide as they
/// become.
fn warm(largest: usize) -> [Retransmit; 2] {
    let mut ends = [1, 2].map(|birth| Retransmit::new(largest, birth));
    let mut now = Duration::from_secs(1);
    let mut there = Vec::new();
    ends[0].send(now, Message::from(vec![7; 1000 * largest]), &mut there);
    while !there.is_empty() {
        now += ACK_DELAY;
        let (back, _) = take(&mut ends[1], now, there);
        (there, _) = take(&mut ends[0], now, back);
    }
    assert_eq!(ends[0].backlog(), 0);
    ends
}

/// What an end sends after frames that come at once, what is due a moment later included, and how
/// many messages are whole then.
fn take(end: &mut Retransmit, now: Time, frames: Vec<Message>) -> (Vec<Message>, usize) {
    let (mut sent, mut messages) = (Vec::new(), Vec::new());
    for frame in frames {
        let taken = end.receive(now, frame, &mut sent, &mut messages);
        taken.expect("well formed");
    }
    end.flush(now, &mut sent);
    end.tick(now + ACK_DELAY, &mut sent);
    (sent, messages.len())
}

#[test]
fn what_comes_at_once_is_acknowledged_once() {
    let [mut from, mut to] = warm(LARGEST);
    let now = Duration::from_secs(10);
    let mut frames = Vec::new();
    from.send(now, Message::from(vec![7; 64 * LARGEST]), &mut frames);
    let count = frames.len();
    assert!(count > 64, "{count}");
    let (mut sent, mut messages) = (Vec::new(), Vec::new());
    for frame in frames {
        to.receive(now, frame, &mut sent, &mut messages)
            .expect("well formed");
    }
    assert!(sent.is_empty(), "{}", sent.len());
    to.flush(now, &mut sent);
    assert_eq!((sent.len(), messages.len()), (1, 1));
}

#[test]
fn as_many_bytes_are_under_way_however_long_pieces_are() {
    for (largest, most) in [(LARGEST, 256), (16 << 10, 25)] {
        let [mut from, _] = warm(largest);
        let mut frames = Vec::new();
        from.send(
            Duration::from_secs(10),
            Message::from(vec![7; 4 << 20]),
            &mut frames,
        );
        assert_eq!(frames.len(), most, "pieces of {largest} bytes");
    }
}

/// The window may be wider than what is under way: half of that alone would change nothing.
#[test]
fn who_loses_long_pieces_has_half_as_many_under_way() {
    for lost in [0, 20] {
        let [mut from, mut to] = warm(16 << 10);
        let now = Duration::from_secs(10);
        let mut frames = Vec::new();
        from.send(now, Message::from(vec![7; 4 << 20]), &mut frames);
        let whole = frames.len();
        frames.remove(lost);
        let (back, _) = take(&mut to, now, frames);
        let (mut again, _) = take(&mut from, now, back);
        // The lost one, and what half of the window lets go besides those that are not
        // acknowledged.
        assert!(again.len() <= whole / 2 + 1, "{} of {whole}", again.len());
        let (back, _) = take(&mut to, now, std::mem::take(&mut again));
        let (next, _) = take(&mut from, now, back);
        // Half, and what the window has grown by since.
        let half = whole / 2..whole * 2 / 3;
        assert!(half.contains(&next.len()), "{} of {whole}", next.len());
    }
}

#[test]
fn what_is_sent_first_is_as_many_bytes_however_long_pieces_are() {
    for (largest, most) in [(LARGEST, 16), (16 << 10, 2)] {
        let mut ends = [1, 2].map(|birth| Retransmit::new(largest, birth));
        let now = Duration::from_secs(1);
        let mut greeting = Vec::new();
        ends[0].send(now, Message::from(vec![7; 1 << 20]), &mut greeting);
        let (welcome, _) = take(&mut ends[1], now, greeting);
        let (first, _) = take(&mut ends[0], now, welcome);
        assert_eq!(first.len(), most, "pieces of {largest} bytes");
    }
}

/// With a window of fewer pieces than are acknowledged at a time it would wait for a delayed
/// acknowledgement each time.
#[test]
fn who_may_send_few_long_pieces_is_answered_at_once() {
    let mut ends = [1, 2].map(|birth| Retransmit::new(16 << 10, birth));
    let now = Duration::from_secs(1);
    let mut there = Vec::new();
    ends[0].send(now, Message::from(vec![7; 1 << 20]), &mut there);
    let (mut turns, mut came) = (0, 0);
    while came == 0 {
        assert!(!there.is_empty(), "it waits after {turns} turns");
        let (mut back, mut messages) = (Vec::new(), Vec::new());
        for frame in there.drain(..) {
            let taken = ends[1].receive(now, frame, &mut back, &mut messages);
            taken.expect("well formed");
        }
        ends[1].flush(now, &mut back);
        came = messages.len();
        for frame in back {
            let taken = ends[0].receive(now, frame, &mut there, &mut messages);
            taken.expect("well formed");
        }
        ends[0].flush(now, &mut there);
        turns += 1;
    }
    assert!(turns < 10, "{turns}");
}

#[test]
fn short_messages_share_no_more_than_a_little() {
    let [mut from, mut to] = warm(16 << 10);
    let now = Duration::from_secs(10);
    let (mut frames, lengths) = (Vec::new(), [SHORT; 2000]);
    for length in lengths {
        from.send(now, Message::from(vec![7; length]), &mut frames);
    }
    let mut came = 0;
    while !frames.is_empty() {
        assert!(frames.iter().all(|frame| frame.len() <= SHARED + HEADER));
        let (back, messages) = take(&mut to, now, frames);
        came += messages;
        (frames, _) = take(&mut from, now, back);
    }
    assert_eq!(came, lengths.len());
}
