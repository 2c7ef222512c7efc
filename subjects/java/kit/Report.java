package kit;

/** What a thread says of itself. Its text is that of a {@code @@ thread} line without {@code count}. */
public record Report(String role, String policy, String priority, String processor, String allowed) {
    /** The calling thread's, which must be a platform thread. */
    public static Report ofThisThread(String role) {
        String[] stat = Proc.stat("thread-self");
        String allowed = Proc.word(Proc.status("thread-self"), "Cpus_allowed_list");
        String policy =
                switch ((int) Proc.number(stat, Proc.POLICY)) {
                    case 0 -> "other";
                    case 1 -> "fifo";
                    case 2 -> "rr";
                    default -> stat[Proc.POLICY];
                };
        return new Report(role, policy, stat[Proc.PRIORITY], stat[Proc.PROCESSOR], allowed);
    }

    @Override
    public String toString() {
        return "role=" + role + " policy=" + policy + " priority=" + priority + " processor=" + processor + " allowed=" + allowed;
    }
}
