package dev.selvedge.policy;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.Lesson;
import dev.selvedge.policy.Retry.Again;
import dev.selvedge.policy.Retry.Decision;
import dev.selvedge.policy.Retry.DelaySource;
import dev.selvedge.policy.Retry.GiveUp;
import dev.selvedge.policy.Retry.Reason;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.VirtualClock;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.charset.MalformedInputException;
import java.nio.file.NoSuchFileException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a retry decides, and what it refuses to be. */
@Timeout(30)
class RetryTest {

    private static final Retry PLAIN = Retry.DEFAULT.withoutJitter();
    private final IOException failure = new IOException("no");

    private final VirtualClock clock = VirtualClock.manual();

    private Decision decide(Retry retry, int attempts, Exception failure) {
        return retry.decide(attempts, failure, ZERO, clock.never());
    }

    private static GiveUp giveUp(Reason reason) {
        return new GiveUp(reason, null);
    }

    private static Again again(Duration delay) {
        return new Again(delay, DelaySource.BACKOFF);
    }

    // How often.

    @Test
    @Lesson({14, 15})
    void three_attempts_are_made_in_all_by_default() {
        assertThat(decide(PLAIN, 1, failure)).isEqualTo(again(ofMillis(100)));
        assertThat(decide(PLAIN, 2, failure)).isEqualTo(again(ofMillis(200)));
        assertThat(decide(PLAIN, 3, failure)).isEqualTo(giveUp(Reason.ATTEMPTS));
    }

    @Test
    @Lesson(15)
    void the_first_call_is_an_attempt() {
        assertThat(decide(PLAIN.attempts(1), 1, failure)).isEqualTo(giveUp(Reason.ATTEMPTS));
        assertThat(decide(PLAIN.attempts(2), 1, failure)).isEqualTo(again(ofMillis(100)));
        assertThat(decide(PLAIN.attempts(2), 2, failure)).isEqualTo(giveUp(Reason.ATTEMPTS));
    }

    @Test
    @Lesson({16, 23})
    void a_time_for_all_lifts_the_limit_of_attempts_unless_that_is_set_too() {
        assertThat(decide(PLAIN.maxDuration(ofHours(1)), 1_000, failure)).isEqualTo(again(ofSeconds(20)));
        assertThat(decide(PLAIN.maxDuration(ofHours(1)).attempts(4), 4, failure))
                .isEqualTo(giveUp(Reason.ATTEMPTS));
        assertThat(decide(PLAIN.attempts(4).maxDuration(ofHours(1)), 4, failure))
                .isEqualTo(giveUp(Reason.ATTEMPTS));
    }

    @Test
    @Lesson({18, 19})
    void a_wait_that_would_end_after_the_time_for_all_is_not_begun() {
        Retry retry = PLAIN.maxDuration(ofSeconds(1));

        assertThat(retry.decide(1, failure, ofMillis(899), clock.never())).isEqualTo(again(ofMillis(100)));
        assertThat(retry.decide(1, failure, ofMillis(900), clock.never())).isEqualTo(giveUp(Reason.DURATION));
        assertThat(retry.decide(1, failure, ofSeconds(5), clock.never())).isEqualTo(giveUp(Reason.DURATION));
    }

    @Test
    @Lesson(73)
    void a_wait_that_would_end_at_the_deadline_or_after_it_is_not_begun() {
        assertThat(PLAIN.decide(1, failure, ZERO, clock.after(ofMillis(101)))).isEqualTo(again(ofMillis(100)));
        assertThat(PLAIN.decide(1, failure, ZERO, clock.after(ofMillis(100)))).isEqualTo(giveUp(Reason.DEADLINE));
        assertThat(PLAIN.immediately().decide(1, failure, ZERO, clock.after(ZERO)))
                .isEqualTo(giveUp(Reason.DEADLINE));
    }

    // How long between.

    @Test
    void the_waits_can_be_fixed_or_none_or_of_another_growth() {
        assertThat(decide(PLAIN.fixed(ofSeconds(3)), 2, failure)).isEqualTo(again(ofSeconds(3)));
        assertThat(decide(PLAIN.immediately(), 2, failure)).isEqualTo(again(ZERO));
        assertThat(decide(PLAIN.factor(3), 2, failure)).isEqualTo(again(ofMillis(300)));
        assertThat(decide(PLAIN.factor(1), 2, failure)).isEqualTo(again(ofMillis(100)));
        assertThat(decide(PLAIN.backoff(ofSeconds(1), ofSeconds(1)), 2, failure))
                .isEqualTo(again(ofSeconds(1)));
    }

    @Test
    void a_back_off_after_a_fixed_wait_grows_again() {
        Retry retry = PLAIN.fixed(ofSeconds(3)).backoff(ofSeconds(1), ofSeconds(9));

        assertThat(decide(retry, 2, failure)).isEqualTo(again(ofSeconds(2)));
    }

    @Test
    void the_dice_can_be_the_callers_own() {
        Retry low = Retry.DEFAULT.random(() -> 0L);

        assertThat(decide(low, 1, failure)).isEqualTo(again(ZERO));
        assertThat(decide(low.withEqualJitter(), 1, failure)).isEqualTo(again(ofMillis(50)));
        assertThat(decide(low.withEqualJitter().withFullJitter(), 1, failure)).isEqualTo(again(ZERO));
    }

    @Test
    @Lesson(28)
    void what_the_failure_asks_for_is_the_least_wait_and_its_source_is_told() {
        Retry retry = PLAIN.retryAfter(e -> Optional.ofNullable(e.getMessage()));

        assertThat(decide(retry, 1, new IOException("30")))
                .isEqualTo(new Again(ofSeconds(30), DelaySource.RETRY_AFTER));
        assertThat(decide(retry.backoff(ofSeconds(40), ofSeconds(40)), 1, new IOException("30")))
                .isEqualTo(again(ofSeconds(40)));
        assertThat(decide(retry, 1, new IOException("0"))).isEqualTo(again(ofMillis(100)));
        assertThat(decide(retry, 1, new IOException("junk"))).isEqualTo(again(ofMillis(100)));
        assertThat(decide(retry, 1, new IOException())).isEqualTo(again(ofMillis(100)));
    }

    @Test
    @Lesson(26)
    void a_date_counts_on_the_clock_that_is_used() {
        Retry retry = PLAIN.retryAfter(e -> Optional.of("Thu, 01 Jan 1970 00:01:00 GMT"));
        clock.advance(ofSeconds(20));

        assertThat(decide(retry, 1, failure)).isEqualTo(new Again(ofSeconds(40), DelaySource.RETRY_AFTER));
    }

    @Test
    @Lesson(20)
    void if_that_is_past_the_deadline_it_gives_up_at_once_and_says_why() {
        Retry retry = PLAIN.retryAfter(e -> Optional.of("30"));

        assertThat(retry.decide(1, failure, ZERO, clock.after(ofSeconds(30)))).isEqualTo(giveUp(Reason.RETRY_AFTER));
        assertThat(retry.maxDuration(ofSeconds(30)).decide(1, failure, ZERO, clock.never()))
                .isEqualTo(giveUp(Reason.RETRY_AFTER));
        assertThat(decide(PLAIN.retryAfter(e -> Optional.of("9".repeat(30))), 1, failure))
                .isEqualTo(giveUp(Reason.RETRY_AFTER));
    }

    @Test
    void it_is_never_shortened_by_the_cap() {
        assertThat(decide(PLAIN.retryAfter(e -> Optional.of("3600")), 1, failure))
                .isEqualTo(new Again(ofHours(1), DelaySource.RETRY_AFTER));
    }

    // Which failures.

    @Test
    void any_exception_is_retried_by_default() {
        assertThat(decide(PLAIN, 1, new IllegalStateException())).isInstanceOf(Again.class);
        assertThat(decide(PLAIN, 1, new Exception())).isInstanceOf(Again.class);
    }

    static Stream<Exception> notForAnotherAttempt() {
        return Stream.of(
                new InterruptedException(),
                new CancellationException(),
                new CircuitOpenException("db", "open", ZERO, null));
    }

    @ParameterizedTest
    @MethodSource("notForAnotherAttempt")
    @Lesson({29, 50})
    void cancellations_and_an_open_circuit_are_not_retried_whatever_is_asked_for(Exception failure) {
        for (Retry retry : new Retry[] {PLAIN, PLAIN.when(e -> true), PLAIN.on(Exception.class)}) {
            assertThat(decide(retry, 1, failure)).isEqualTo(giveUp(Reason.NOT_RETRYABLE));
        }
    }

    @Test
    @Lesson(50)
    void other_rejections_are_retried_if_they_are_asked_for() {
        RateLimitedException limited = new RateLimitedException("no", ofSeconds(1));
        BulkheadFullException full = new BulkheadFullException("no", 1);

        assertThat(decide(PLAIN, 1, limited)).isEqualTo(giveUp(Reason.NOT_RETRYABLE));
        assertThat(decide(PLAIN, 1, full)).isEqualTo(giveUp(Reason.NOT_RETRYABLE));
        assertThat(decide(PLAIN.on(RateLimitedException.class), 1, limited)).isInstanceOf(Again.class);
        assertThat(decide(PLAIN.when(e -> true), 1, full)).isInstanceOf(Again.class);
    }

    @Test
    void what_one_of_the_conditions_asks_for_is_retried_but_never_what_is_excluded() {
        Retry retry = PLAIN.on(IOException.class)
                .on(SQLException.class)
                .when(e -> "again".equals(e.getMessage()))
                .never(FileNotFoundException.class)
                .never(SQLSyntaxErrorException.class);

        assertThat(decide(retry, 1, new ConnectException())).isInstanceOf(Again.class);
        assertThat(decide(retry, 1, new SQLException())).isInstanceOf(Again.class);
        assertThat(decide(retry, 1, new RuntimeException("again"))).isInstanceOf(Again.class);
        assertThat(decide(retry, 1, new RuntimeException("other"))).isEqualTo(giveUp(Reason.NOT_RETRYABLE));
        assertThat(decide(retry, 1, new FileNotFoundException())).isEqualTo(giveUp(Reason.NOT_RETRYABLE));
        assertThat(decide(retry, 1, new SQLSyntaxErrorException("again"))).isEqualTo(giveUp(Reason.NOT_RETRYABLE));
    }

    @Test
    @Lesson(87)
    void a_predicate_that_throws_ends_the_retry_and_is_told() {
        IllegalStateException fault = new IllegalStateException("predicate");
        AssertionError error = new AssertionError("predicate");

        assertThat(decide(PLAIN.when(e -> doThrow(fault)), 1, failure)).isEqualTo(new GiveUp(Reason.FAULT, fault));
        assertThat(decide(PLAIN.when(e -> doThrow(error)), 1, failure)).isEqualTo(new GiveUp(Reason.FAULT, error));
        assertThat(decide(PLAIN.retryAfter(e -> Optional.of("" + doThrow(fault))), 1, failure))
                .isEqualTo(new GiveUp(Reason.FAULT, fault));
    }

    private static boolean doThrow(Throwable t) {
        if (t instanceof Error e) {
            throw e;
        }
        throw (RuntimeException) t;
    }

    static Stream<Exception> transientOnes() {
        return Stream.of(
                new IOException("connection reset"),
                new ConnectException(),
                new SocketTimeoutException(),
                new UnknownHostException(),
                new SSLException("closed"),
                new HttpTimeoutException("late"),
                new TimeoutException(),
                new SQLTransientConnectionException(),
                new SQLRecoverableException(),
                new SQLException("gone", "08006"),
                new SQLException("deadlock", "40P01"),
                new Marked(),
                new UncheckedIOException(new ConnectException()),
                new ExecutionException(new TimeoutException()),
                new CompletionException(new ExecutionException(new ConnectException())));
    }

    static Stream<Exception> lastingOnes() {
        return Stream.of(
                new RuntimeException(),
                new FileNotFoundException(),
                new NoSuchFileException("x"),
                new MalformedInputException(1),
                new SSLHandshakeException("certificate"),
                new SQLException(),
                new SQLException("syntax", "42601"),
                new SQLSyntaxErrorException(),
                new UncheckedIOException(new FileNotFoundException()),
                new ExecutionException(new IllegalStateException()),
                new CompletionException("no cause", null));
    }

    @ParameterizedTest
    @MethodSource("transientOnes")
    void failures_that_may_pass_are_known(Exception failure) {
        assertThat(Retry.isTransient(failure)).isTrue();
        assertThat(decide(PLAIN.onTransient(), 1, failure)).isInstanceOf(Again.class);
    }

    @ParameterizedTest
    @MethodSource("lastingOnes")
    void failures_that_stay_are_known(Exception failure) {
        assertThat(Retry.isTransient(failure)).isFalse();
        assertThat(decide(PLAIN.onTransient(), 1, failure)).isEqualTo(giveUp(Reason.NOT_RETRYABLE));
    }

    private static final class Marked extends RuntimeException implements Transient {
        private static final long serialVersionUID = 1;
    }

    // A value.

    @Test
    void each_step_leaves_the_value_as_it_is() {
        Retry one = PLAIN.attempts(1);
        Retry unused = one.attempts(9).on(IOException.class).immediately();

        assertThat(decide(one, 1, failure)).isEqualTo(giveUp(Reason.ATTEMPTS));
        assertThat(decide(PLAIN, 1, new RuntimeException())).isEqualTo(again(ofMillis(100)));
    }

    @Test
    void settings_out_of_range_are_refused_at_the_step_with_their_value() {
        Retry r = Retry.DEFAULT;

        assertThatThrownBy(() -> r.attempts(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("attempts must be at least 1: 0");
        assertThatThrownBy(() -> r.attempts(Integer.MIN_VALUE)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> r.maxDuration(ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxDuration must be positive: PT0S");
        assertThatThrownBy(() -> r.maxDuration(ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> r.backoff(ofNanos(-1), ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("base must not be negative: PT-0.000000001S");
        assertThatThrownBy(() -> r.backoff(ofSeconds(2), ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cap must not be less than base: PT1S < PT2S");
        assertThatThrownBy(() -> r.fixed(ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("wait must not be negative: PT-0.000000001S");
        for (double factor : new double[] {0, 0.99, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> r.factor(factor))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("factor must be a finite number of at least 1: " + factor);
        }
        assertThatThrownBy(() -> r.on())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("types must not be empty");
        assertThatThrownBy(() -> r.never())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("types must not be empty");
        assertThatThrownBy(() -> r.decide(0, failure, ZERO, Deadline.never()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("attempts must be at least 1: 0");
    }

    @Test
    void the_least_and_the_greatest_durations_are_fine_where_they_make_sense() {
        Duration huge = ofSeconds(Long.MAX_VALUE);

        assertThat(decide(PLAIN.fixed(ofNanos(1)), 1, failure)).isEqualTo(again(ofNanos(1)));
        assertThat(decide(PLAIN.backoff(ofNanos(1), huge), 2, failure)).isEqualTo(again(ofNanos(2)));
        assertThat(decide(PLAIN.backoff(huge, huge), 1, failure)).isEqualTo(again(Duration.ofDays(36_500)));
        assertThat(decide(PLAIN.maxDuration(huge), 1, failure)).isEqualTo(again(ofMillis(100)));
        assertThat(decide(PLAIN.maxDuration(ofNanos(1)), 1, failure)).isEqualTo(giveUp(Reason.DURATION));
        assertThat(decide(PLAIN.backoff(ZERO, ZERO), 1, failure)).isEqualTo(again(ZERO));
    }
}
