package dev.selvedge;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The numbers of the behaviours that a test shows; {@link CatalogueTest} keeps the list of those that have none yet. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Catalogue {
    int[] value();
}
