package dev.selvedge.benchmarks.jmh;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The values of a parameter where not all of them are wanted. */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
@interface Less {

    /** Those that show the ratios. */
    String[] quick();

    /** Those that show that it runs. */
    String[] once();
}
