package dev.selvedge;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What one source file looks up by name. A lookup must match a pattern as a whole and name types that can be found;
 * whatever else calls a method that looks something up is not understood.
 *
 * @param entries each as {@code type}, {@code type#field}, {@code type#method(parameters)} or {@code proxy of type}
 * @param choices from all methods of a type
 * @param notUnderstood the rest, with the file
 */
record Lookups(Set<String> entries, List<Choice> choices, List<String> notUnderstood) {

    private static final Pattern CALL =
            Pattern.compile("(?:\\.|::)\\s*(?:find(?:Virtual|Static|Special|Constructor|Class|(?:Static)?VarHandle"
                    + "|(?:Static)?[GS]etter)|forName|loadClass|bind|newUpdater|newProxyInstance"
                    + "|get(?:Declared)?(?:Methods?|Fields?|Constructors?|Classes)|getRecordComponents)\\b");

    private static final String TYPE = "(\\w+(?:\\.class)?(?:\\[]\\.class)?)";
    private static final String SHAPE = "MethodType\\s*\\.methodType\\(([^()]*)\\)\\s*\\)";

    private static final Pattern METHOD =
            Pattern.compile("\\.\\s*(?:findVirtual|findStatic|bind)\\(\\s*" + TYPE + ",\\s*\"(\\w+)\",\\s*" + SHAPE);
    private static final Pattern CONSTRUCTOR =
            Pattern.compile("\\.\\s*findConstructor\\(\\s*" + TYPE + ",\\s*" + SHAPE);
    private static final Pattern FIELD =
            Pattern.compile("\\.\\s*find(?:Static)?VarHandle\\(\\s*" + TYPE + ",\\s*\"(\\w+)\",[^()]*\\)");
    private static final Pattern CLASS = Pattern.compile("\\.\\s*forName\\(([^(),]*(?:\\(\\)[^(),]*)?)\\)");
    private static final Pattern PROXY =
            Pattern.compile("\\.\\s*newProxyInstance\\(\\s*\\w+\\.class\\.getClassLoader\\(\\),"
                    + "\\s*new Class<\\?>\\[\\] \\{(\\w+)\\},");
    private static final Pattern METHODS = Pattern.compile("\\.\\s*getMethods\\(\\)\\) \\{\\s*if \\(m\\.getName\\(\\)"
            + "\\.equals\\(\"(\\w+)\"\\)\\s*&& m\\.getParameterCount\\(\\) == (\\d+)\\s*&& m\\.getParameterTypes\\(\\)"
            + "\\[(\\d+)]\\s*\\.isAssignableFrom\\((\\w+\\.class)\\)\\) \\{");

    private static final Pattern TEXT_OR_COMMENT = Pattern.compile(
            "(\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"" + "|'(?:\\\\.|[^'\\\\])+')|/\\*.*?\\*/|//[^\n]*",
            Pattern.DOTALL);

    /** Reads the source of the type named {@code top}. */
    static Lookups in(String top, String source) {
        String code = TEXT_OR_COMMENT
                .matcher(source)
                .replaceAll(m -> Matcher.quoteReplacement(Objects.requireNonNullElse(m.group(1), " ")));
        Lookups found = new Lookups(new TreeSet<>(), new ArrayList<>(), new ArrayList<>());
        Names names = new Names(top, code);
        for (MatchResult call : CALL.matcher(code).results().toList()) {
            try {
                found.read(names, call.start());
            } catch (NotUnderstood e) {
                int end = code.indexOf('\n', call.end());
                found.notUnderstood.add(top + ": " + code.substring(call.start(), end < 0 ? code.length() : end) + " ("
                        + e.getMessage() + ")");
            }
        }
        return found;
    }

    private void read(Names names, int at) {
        Matcher m;
        if ((m = at(METHOD, names.code, at)) != null) {
            add(names.type(m.group(1)), m.group(2) + names.parameters(m.group(3)));
        } else if ((m = at(CONSTRUCTOR, names.code, at)) != null) {
            add(names.type(m.group(1)), "<init>" + names.parameters(m.group(2)));
        } else if ((m = at(FIELD, names.code, at)) != null) {
            add(names.type(m.group(1)), m.group(2));
        } else if ((m = at(CLASS, names.code, at)) != null) {
            entries.add(names.text(m.group(1)));
        } else if ((m = at(PROXY, names.code, at)) != null) {
            entries.add("proxy of " + names.type(m.group(1)));
        } else if ((m = at(METHODS, names.code, at)) != null) {
            String type = names.type(names.wordBefore(at));
            entries.add(type);
            choices.add(new Choice(
                    type + "#" + m.group(1), number(m.group(2)), number(m.group(3)), names.type(m.group(4))));
        } else {
            throw new NotUnderstood("no pattern matches");
        }
    }

    private void add(String type, String member) {
        entries.add(type);
        entries.add(type + "#" + member);
    }

    private static Matcher at(Pattern pattern, String code, int at) {
        Matcher m = pattern.matcher(code).region(at, code.length());
        return m.lookingAt() ? m : null;
    }

    private static int number(String digits) {
        return Integer.parseInt(digits);
    }

    /** As {@code (a.B, int)}. */
    static String parameters(Class<?>... types) {
        return Stream.of(types).map(Class::getTypeName).collect(Collectors.joining(", ", "(", ")"));
    }

    /** Without initialising it. */
    static Optional<Class<?>> classNamed(String name) {
        try {
            return Optional.of(Class.forName(name, false, Lookups.class.getClassLoader()));
        } catch (ClassNotFoundException e) {
            return Optional.empty();
        }
    }

    /**
     * A method chosen by its arity and by what one parameter can take.
     *
     * @param method type and name
     * @param count of parameters
     * @param index of the parameter that decides
     * @param taken by that parameter
     */
    record Choice(String method, int count, int index, String taken) {

        /** Those that fit; if none does, what is missing. */
        List<String> among(List<String> listed) {
            List<String> fit = listed.stream().filter(this::fits).toList();
            return fit.isEmpty() ? List.of(method + "(one of " + count + " parameters)") : fit;
        }

        private boolean fits(String entry) {
            if (!entry.startsWith(method + "(")) {
                return false;
            }
            String[] parameters =
                    entry.substring(method.length() + 1, entry.length() - 1).split(", ", -1);
            return parameters.length == count
                    && classNamed(parameters[index])
                            .filter(p -> p.isAssignableFrom(classNamed(taken).orElseThrow()))
                            .isPresent();
        }
    }

    /**
     * What the words of a file stand for: a variable must mean the same wherever it occurs in the file.
     *
     * @param top the type whose file it is
     * @param code without comments
     */
    private record Names(String top, String code) {

        /** Of a constant such as {@code int.class}, or of a variable. */
        String type(String expression) {
            if (expression.endsWith("[].class")) {
                return type(expression.replace("[].class", ".class")) + "[]";
            }
            return expression.endsWith(".class") ? simple(expression.replace(".class", "")) : variable(expression);
        }

        String parameters(String returnedAndTaken) {
            return Stream.of(returnedAndTaken.split(","))
                    .skip(1)
                    .map(String::strip)
                    .map(this::type)
                    .collect(Collectors.joining(", ", "(", ")"));
        }

        /** Of literals, constants and names of types, joined by plus. */
        String text(String expression) {
            return Stream.of(expression.split("\\+"))
                    .map(String::strip)
                    .map(this::term)
                    .collect(Collectors.joining());
        }

        String wordBefore(int at) {
            Matcher m = Pattern.compile("(\\w+)\\s*$").matcher(code.substring(0, at));
            if (!m.find()) {
                throw new NotUnderstood("not called on a variable");
            }
            return m.group(1);
        }

        private String term(String term) {
            if (term.matches("\"[^\"\\\\]*\"")) {
                return term.substring(1, term.length() - 1);
            }
            if (term.matches("\\w+\\.getName\\(\\)")) {
                return variable(term.replace(".getName()", ""));
            }
            return only("String " + term + "\\s*=\\s*(\"[^\"\\\\]*\");", term)
                    .map(this::term)
                    .orElseThrow(() -> new NotUnderstood(term + " is no literal or constant"));
        }

        private String variable(String name) {
            Optional<String> loaded = only("Class<\\?> " + name + "\\s*=\\s*Class\\.forName\\((.*?)\\);", name)
                    .map(this::text);
            Optional<String> made =
                    only("\\b(\\w+) " + name + "\\s*=\\s*new \\1\\(", name).map(this::simple);
            if (loaded.isPresent() == made.isPresent()) {
                throw new NotUnderstood("what " + name + " stands for");
            }
            return loaded.or(() -> made).orElseThrow();
        }

        private Optional<String> only(String declaration, String name) {
            List<String> all = Pattern.compile(declaration, Pattern.DOTALL)
                    .matcher(code)
                    .results()
                    .map(m -> m.group(1))
                    .distinct()
                    .toList();
            if (all.size() > 1) {
                throw new NotUnderstood(name + " stands for more than one thing");
            }
            return all.stream().findFirst();
        }

        /** A primitive, or what the language finds: a type of the file, imported, of the package, of java.lang. */
        private String simple(String name) {
            if (List.of("boolean", "byte", "short", "char", "int", "long", "float", "double", "void")
                    .contains(name)) {
                return name;
            }
            Stream<String> nested = classNamed(top).stream()
                    .flatMap(Names::withNested)
                    .filter(c -> c.getSimpleName().equals(name))
                    .map(Class::getName);
            Stream<String> imported = Pattern.compile("import ([\\w.]+\\." + name + ");")
                    .matcher(code)
                    .results()
                    .map(m -> m.group(1));
            Stream<String> near =
                    Stream.of(top.replaceFirst("\\w+$", ""), "java.lang.").map(p -> p + name);
            return Stream.of(nested, imported, near)
                    .flatMap(s -> s)
                    .filter(n -> classNamed(n).isPresent())
                    .findFirst()
                    .orElseThrow(() -> new NotUnderstood("no type " + name));
        }

        private static Stream<Class<?>> withNested(Class<?> type) {
            return Stream.concat(
                    Stream.of(type), Arrays.stream(type.getDeclaredClasses()).flatMap(Names::withNested));
        }
    }

    /** Says what. */
    private static final class NotUnderstood extends RuntimeException {
        private static final long serialVersionUID = 1;

        NotUnderstood(String what) {
            super(what);
        }
    }
}
