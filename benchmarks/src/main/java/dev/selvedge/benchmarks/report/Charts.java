package dev.selvedge.benchmarks.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.internal.series.MarkerSeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.AxesChartStyler.TextAlignment;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Charts as pictures of twice their size, on a light ground of their own, so they can be read on a dark page too. As SVG each
 * would be ten times as large, since every letter would be drawn as a path.
 *
 * @param folder of the page
 */
record Charts(Path folder) {

    /** Where in it the charts lie. */
    static final String CHARTS = "charts";

    /** Told apart by people who see colours otherwise, too: Okabe's and Ito's, without their yellow, which is too light a line. */
    private static final List<Color> COLOURS = List.of(
            new Color(0x0072B2),
            new Color(0xD55E00),
            new Color(0x009E73),
            new Color(0xCC79A7),
            new Color(0x000000),
            new Color(0xE69F00),
            new Color(0x56B4E9),
            new Color(0x7F7F7F));

    private static final List<Marker> MARKERS = List.of(
            SeriesMarkers.CIRCLE,
            SeriesMarkers.SQUARE,
            SeriesMarkers.TRIANGLE_UP,
            SeriesMarkers.DIAMOND,
            SeriesMarkers.CROSS,
            SeriesMarkers.TRIANGLE_DOWN,
            SeriesMarkers.PLUS);

    private static final List<BasicStroke> STROKES =
            List.of(SeriesLines.SOLID, SeriesLines.DASH_DASH, SeriesLines.DOT_DOT);

    private static final Color GROUND = new Color(0xFAFAFA);
    private static final Color GRID = new Color(0xD8D8D8);
    private static final Color INK = new Color(0x202020);
    private static final int DOTS_PER_INCH = 144; // twice 72, at which a unit is a dot
    private static final int WIDTH = 860;
    private static final int HEIGHT = 460;
    private static final int LETTER = 6;

    /** About how much of the height is that of the axis upwards. */
    private static final int PLOT = 340;

    /** Asks for labels a little less than a decade from each other, and so gets a decade. */
    private static final double A_DECADE = 0.9;

    private static final String NUMBER = "#,##0.######";

    /** In the name of a series that is no more than the error bars of another: those of XChart are as long below as above. */
    private static final String SPREAD = " (spread)";

    /**
     * A line, or the points of one colour.
     *
     * @param name in the legend
     * @param style its place among all that are ever drawn: keeps its colour and marker over charts
     * @param points in the order of x
     */
    record Series(String name, int style, List<Point> points) {

        /** Of figures without a spread that are all the same: drawn as a line. */
        boolean isLine() {
            return points.size() > 1
                    && points.stream().map(Point::figure).distinct().count() == 1;
        }
    }

    /**
     * A point of a chart.
     *
     * @param x its place to the right, where numbers are on that axis
     * @param category its name, where names are
     * @param figure up, with the error bar
     */
    record Point(double x, String category, Figure figure) {}

    /**
     * Draws lines over a number, both axes logarithmic; but where all lie within a decade, the one upwards is from zero on, and shows
     * how near they are. Gives the name of the file in the folder.
     */
    String lines(String file, String title, String x, String y, List<Series> all) throws IOException {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(x)
                .yAxisTitle(y)
                .build();
        style(chart.getStyler());
        boolean isWide = extreme(all, Figure::high).max().orElse(0)
                        - extreme(all, Charts::low).min().orElse(0)
                >= 1;
        chart.getStyler().setXAxisLogarithmic(true).setYAxisLogarithmic(isWide);
        if (!isWide) {
            chart.getStyler().setYAxisMin(0.0);
        }
        chart.getStyler().setXAxisDecimalPattern(NUMBER).setYAxisDecimalPattern(NUMBER);
        for (Series s : all) {
            XYSeries drawn = chart.addSeries(
                    s.name,
                    s.points.stream().mapToDouble(Point::x).toArray(),
                    s.points.stream().mapToDouble(p -> p.figure.value()).toArray());
            style(drawn, s);
            drawn.setLineStyle(STROKES.get(s.style / COLOURS.size() % STROKES.size()));
            XYSeries spread = chart.addSeries(
                    s.name + SPREAD,
                    s.points.stream().mapToDouble(Point::x).toArray(),
                    s.points.stream()
                            .mapToDouble(p -> (p.figure.high() + low(p.figure)) / 2)
                            .toArray(),
                    s.points.stream()
                            .mapToDouble(p -> (p.figure.high() - low(p.figure)) / 2)
                            .toArray());
            style(spread, s);
            hide(spread);
        }
        return write(chart, file);
    }

    /** On a logarithmic axis nothing may reach zero. */
    private static double low(Figure figure) {
        return figure.low() > 0 ? figure.low() : figure.value();
    }

    /** All but its error bars. */
    private static void hide(MarkerSeries drawn) {
        drawn.setMarker(SeriesMarkers.NONE);
        drawn.setLineStyle(SeriesLines.NONE);
        drawn.setShowInLegend(false);
    }

    /**
     * Draws points over names, and lines that have no markers; the axis upwards is logarithmic. All series have the same names.
     * Gives the name of the file in the folder.
     *
     * <p>What is drawn are logarithms, and the labels turn them back: of this kind of chart XChart does not draw error bars right on
     * a logarithmic axis.
     */
    String points(String file, String title, String x, String y, List<Series> all) throws IOException {
        int longest = all.stream()
                .flatMap(s -> s.points.stream())
                .mapToInt(p -> p.category.length())
                .max()
                .orElse(0);
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT + longest * LETTER)
                .title(title)
                .xAxisTitle(x)
                .yAxisTitle(y)
                .build();
        style(chart.getStyler());
        double least = Math.floor(extreme(all, Charts::low).min().orElse(0));
        double most = Math.ceil(extreme(all, Figure::high).max().orElse(1));
        chart.getStyler()
                .setYAxisTickMarkSpacingHint((int) (A_DECADE * PLOT / Math.max(1, most - least)))
                .setXAxisLabelRotation(longest > 2 ? 90 : 0)
                .setXAxisLabelAlignmentVertical(TextAlignment.Right)
                .setYAxisMin(least)
                .setYAxisMax(most)
                .setyAxisTickLabelsFormattingFunction(log -> Numbers.shown(Math.pow(10, log), 2));
        chart.getStyler().setLegendVisible(all.size() > 1);
        chart.getStyler().setOverlapped(true).setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Scatter);
        for (Series s : all) {
            CategorySeries drawn = chart.addSeries(
                    s.name,
                    s.points.stream().map(Point::category).toList(),
                    s.points.stream().map(p -> Math.log10(p.figure.value())).toList());
            style(drawn, s);
            if (s.isLine()) {
                drawn.setChartCategorySeriesRenderStyle(CategorySeriesRenderStyle.Line);
                drawn.setMarker(SeriesMarkers.NONE);
                drawn.setLineStyle(SeriesLines.SOLID);
            } else {
                drawn.setLineStyle(SeriesLines.NONE);
                CategorySeries spread = chart.addSeries(
                        s.name + SPREAD,
                        s.points.stream().map(Point::category).toList(),
                        s.points.stream().map(p -> middle(p.figure)).toList(),
                        s.points.stream()
                                .map(p -> Math.log10(p.figure.high()) - middle(p.figure))
                                .toList());
                style(spread, s);
                hide(spread);
            }
        }
        return write(chart, file);
    }

    private static DoubleStream extreme(List<Series> all, ToDoubleFunction<Figure> end) {
        return all.stream().flatMap(s -> s.points.stream()).mapToDouble(p -> Math.log10(end.applyAsDouble(p.figure)));
    }

    /** Of the logarithms of both ends. */
    private static double middle(Figure figure) {
        return (Math.log10(figure.high()) + Math.log10(low(figure))) / 2;
    }

    private static void style(MarkerSeries drawn, Series s) {
        Color colour = COLOURS.get(s.style % COLOURS.size());
        drawn.setMarker(MARKERS.get(s.style % MARKERS.size()));
        drawn.setMarkerColor(colour);
        drawn.setLineColor(colour);
    }

    private static void style(AxesChartStyler styler) {
        styler.setBaseFont(new Font("DejaVu Sans", Font.PLAIN, 12));
        styler.setChartTitleFont(new Font("DejaVu Sans", Font.BOLD, 14));
        styler.setAxisTitleFont(new Font("DejaVu Sans", Font.PLAIN, 12));
        styler.setAxisTickLabelsFont(new Font("DejaVu Sans", Font.PLAIN, 11));
        styler.setLegendFont(new Font("DejaVu Sans", Font.PLAIN, 11));
        styler.setLocale(Locale.ROOT);
        styler.setChartBackgroundColor(GROUND)
                .setPlotBackgroundColor(GROUND)
                .setPlotBorderVisible(false)
                .setChartFontColor(INK)
                .setChartTitleBoxVisible(false)
                .setLegendBackgroundColor(GROUND)
                .setLegendBorderColor(GRID)
                .setLegendPosition(LegendPosition.OutsideE)
                .setMarkerSize(8);
        styler.setPlotGridLinesColor(GRID).setErrorBarsColorSeriesColor(true).setAxisTickLabelsColor(INK);
    }

    private String write(Chart<?, ?> chart, String name) throws IOException {
        String file = CHARTS + "/" + name + ".png";
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        BitmapEncoder.saveBitmapWithDPI(chart, path.toString(), BitmapFormat.PNG, DOTS_PER_INCH);
        return file;
    }
}
