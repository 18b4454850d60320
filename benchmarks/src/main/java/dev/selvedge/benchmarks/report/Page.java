package dev.selvedge.benchmarks.report;

import java.util.List;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.ext.gfm.tables.TableBody;
import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.ext.gfm.tables.TableHead;
import org.commonmark.ext.gfm.tables.TableRow;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.Document;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Paragraph;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.markdown.MarkdownRenderer;

/** A page of Markdown in the making; for one thread. */
final class Page {

    private static final List<Extension> TABLES = List.of(TablesExtension.create());
    private static final Parser PARSER = Parser.builder().extensions(TABLES).build();
    private static final MarkdownRenderer RENDERER =
            MarkdownRenderer.builder().extensions(TABLES).build();

    private final Document document = new Document();

    /** Adds what is written in Markdown. */
    void add(String markdown) {
        Node block = PARSER.parse(markdown).getFirstChild();
        while (block != null) {
            Node next = block.getNext();
            document.appendChild(block);
            block = next;
        }
    }

    /** Adds a table; its cells are plain text. */
    void table(List<String> head, List<List<String>> rows) {
        table(head, rows, "");
    }

    /** Adds a table whose first cells are the names of files in a folder, and lead to them; none if it has no name. */
    void table(List<String> head, List<List<String>> rows, String folder) {
        TableBlock table = new TableBlock();
        TableHead top = new TableHead();
        top.appendChild(row(head, true, ""));
        table.appendChild(top);
        TableBody body = new TableBody();
        rows.forEach(r -> body.appendChild(row(r, false, folder)));
        table.appendChild(body);
        document.appendChild(table);
    }

    private static TableRow row(List<String> cells, boolean header, String folder) {
        TableRow row = new TableRow();
        for (String text : cells) {
            TableCell cell = new TableCell();
            cell.setHeader(header);
            if (folder.isEmpty() || row.getFirstChild() != null) {
                cell.appendChild(new Text(text));
            } else {
                Link link = new Link(folder + "/" + text, null);
                link.appendChild(new Text(text));
                cell.appendChild(link);
            }
            row.appendChild(cell);
        }
        return row;
    }

    /** Adds a picture by its name in the folder of the page. */
    void image(String says, String file) {
        Image image = new Image(file, null);
        image.appendChild(new Text(says));
        Paragraph paragraph = new Paragraph();
        paragraph.appendChild(image);
        document.appendChild(paragraph);
    }

    String markdown() {
        return RENDERER.render(document);
    }
}
