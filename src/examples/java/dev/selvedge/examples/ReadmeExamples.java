package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import dev.selvedge.ScopeFailedException;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** The examples of the README: a page of a shop that needs three services. */
public final class ReadmeExamples {

    /** A user. */
    public record User(String name) {}

    /** An order. */
    public record Order(String item) {}

    /** A price. */
    public record Price(int cents) {
        /** When nobody can tell. */
        public static final Price UNKNOWN = new Price(-1);
    }

    /** The page. */
    public record Dashboard(User user, List<Order> orders, Price price) {}

    /** The first service. */
    public interface Users {
        User byId(long id) throws IOException;
    }

    /** The second service. */
    public interface Orders {
        List<Order> of(long id) throws IOException;
    }

    /** The third service. */
    public interface Prices {
        Price of(long id) throws IOException;
    }

    private final Users users;
    private final Orders orders;
    private final Prices prices;

    /** A shop with its services. */
    public ReadmeExamples(Users users, Orders orders, Prices prices) {
        this.users = users;
        this.orders = orders;
        this.prices = prices;
    }

    // @start region="page"
    static final ScopeSpec PRICING = scope("pricing").deadline(ofMillis(200));

    public Dashboard page(long id) {
        return scope("dashboard")
                .deadline(ofMillis(800))
                .fork(() -> users.byId(id))
                .fork(() -> orders.of(id))
                .fork(() -> PRICING.call(() -> prices.of(id), failure -> Price.UNKNOWN))
                .gather(Dashboard::new);
    }
    // @end

    // @start region="after"
    public Dashboard strictPage(long id) throws IOException {
        try {
            return scope("dashboard")
                    .deadline(ofMillis(800))
                    .fork(() -> users.byId(id))
                    .fork(() -> orders.of(id))
                    .fork(() -> prices.of(id))
                    .gather(Dashboard::new);
        } catch (ScopeFailedException e) {
            throw e.rethrow(IOException.class);
        }
    }
    // @end

    /** Shows the page while one service is slow, without waiting for it. */
    public static Duration pageWithSlowPrices() {
        // @start region="virtual"
        VirtualClock clock = VirtualClock.jumping();
        ReadmeExamples shop = new ReadmeExamples(id -> new User("Ada"), id -> List.of(), id -> {
            Selvedge.sleep(ofSeconds(30));
            return new Price(100);
        });

        Dashboard page = scope().clock(clock).call(() -> shop.page(7));

        assert page.price().equals(Price.UNKNOWN);
        assert clock.elapsed().equals(ofMillis(200));
        // @end
        if (!page.price().equals(Price.UNKNOWN)) {
            throw new IllegalStateException("the price came after all: " + page);
        }
        return clock.elapsed();
    }
}
