package dev.selvedge.benchmarks.jmh;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** How many threads call the benchmarks of a class at once, on shared objects; JMH itself knows one number only. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@interface OnThreads {

    /** Each is measured. */
    String[] full();

    /** Those that show the ratios. */
    String[] quick();
}
