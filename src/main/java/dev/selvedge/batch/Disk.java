package dev.selvedge.batch;

import java.io.IOException;
import java.nio.file.Path;

/** What a journal asks of a file system. A seam for tests, whose disks are full, slow or broken at will. */
interface Disk {

    /** That of this machine. */
    Disk REAL = RealFile::new;

    /** A file to read from and append to. If there is none, it is made by the first append. */
    Handle open(Path file) throws IOException;

    /** An open file. Appends, cuts and reads are not interrupted, whatever the flag of the calling thread. */
    interface Handle {

        long length() throws IOException;

        /**
         * Reads at a place, as many bytes as there are, or as are asked for. Any thread.
         *
         * @return how many; -1 at the end of the file
         */
        int read(long at, byte[] into, int from, int count) throws IOException;

        /** Writes at the end. If it throws, some of the bytes may be there. One thread at a time, as {@code truncate}. */
        void append(byte[] bytes) throws IOException;

        void truncate(long length) throws IOException;

        /** Returns when whatever was appended before would survive a power cut. Beside appends. */
        void sync() throws IOException;

        void close() throws IOException;
    }
}
