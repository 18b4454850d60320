package dev.selvedge;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exceptions travel: to a log on another machine, or through a test runner's fork. */
@Timeout(30)
class SerializationTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    void a_failed_scope_s_exception_keeps_its_message_and_its_failures() throws Exception {
        ScopeFailedException e = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope("page").gather(() -> {
                    throw new IOException("boom");
                }));

        ScopeFailedException copy = copied(e);

        assertThat(copy).hasMessage("the scope \"page\" failed: \"fork-1\" threw java.io.IOException: boom");
        assertThat(copy.all(IOException.class)).hasSize(1);
    }

    @Test
    void a_deadline_s_exception_keeps_all_but_the_outcomes() throws Exception {
        DeadlineExceededException e = catchThrowableOfType(
                DeadlineExceededException.class,
                () -> lab.scope("page").deadline(ofSeconds(1)).gather(() -> {
                    Selvedge.sleep(ofSeconds(2));
                    return 1;
                }));
        assertThat(e.outcomes()).hasSize(1);

        DeadlineExceededException copy = copied(e);

        assertThat(copy).hasMessage(e.getMessage());
        assertThat(copy.limit()).isEqualTo(ofSeconds(1));
        assertThat(copy.unfinished()).containsExactly("fork-1");
        assertThat(copy.outcomes()).isEmpty();
    }

    @Test
    void a_cancellation_keeps_its_reason() throws Exception {
        ScopeCancelledException e = catchThrowableOfType(
                ScopeCancelledException.class,
                () -> lab.scope().run(s -> {
                    assertThat(s.cancel(new IOException("gone"))).isTrue();
                    Selvedge.checkpoint();
                }));

        ScopeCancelledException copy = copied(e);

        assertThat(copy.reason().kind()).isEqualTo(CancelReason.Kind.CALLER);
        assertThat(copy.reason().cause()).isInstanceOf(IOException.class).hasMessage("gone");
    }

    @SuppressWarnings("unchecked") // a copy of what was given
    private static <T extends Throwable> T copied(T e) throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(e);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (T) in.readObject();
        }
    }
}
