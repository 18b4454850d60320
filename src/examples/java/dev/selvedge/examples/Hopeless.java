package dev.selvedge.examples;

/** There is no use in running the command for any other line: the end of the job, and not a failure of one line. */
final class Hopeless extends RuntimeException {

    private static final long serialVersionUID = 1;

    private static final int SOME_NOT = 1;
    private static final int CANNOT_BE_RUN = 126;
    private static final int NOT_FOUND = 127;

    private final int exitCode;

    private Hopeless(String message, int exitCode) {
        super(message, null, false, false);
        this.exitCode = exitCode;
    }

    static Hopeless unread() {
        return new Hopeless("nobody reads standard output any more", SOME_NOT);
    }

    static Hopeless notFound(String command) {
        return new Hopeless("there is no command " + command, NOT_FOUND);
    }

    static Hopeless cannotBeRun(String command, String why) {
        return new Hopeless("the command " + command + " cannot be run: " + why, CANNOT_BE_RUN);
    }

    int exitCode() {
        return exitCode;
    }
}
