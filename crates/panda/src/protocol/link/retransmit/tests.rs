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

    /// Carries frames to the second, those that arrive by their number, and what comes back, until nothing does for so long that all is acknowledged.
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
            self.now += ACK_DELAY;
            self.ends[1].tick(self.now, &mut back);
            self.came.extend(messages.iter().map(Message::len));
            for frame in back {
                let taken = self.ends[0].receive(self.now, frame, &mut there, &mut messages);
                taken.expect("well formed");
            }
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
