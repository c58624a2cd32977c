/** Watches the files that open configs read: presets, parents, reward functions. */
import { watch, type FSWatcher } from "chokidar";

/**
 * Milliseconds without a change of size, after which a file counts as written. Saving empties a file before it writes
 * it, and chokidar drops a second change that comes within 50 ms of the first: the empty file would be all that is read.
 */
const settled = { stabilityThreshold: 60, pollInterval: 15 };

export class ConfigFiles {
  private watcher: FSWatcher | undefined;
  private watched = new Set<string>();

  /** @param changed is called when one of the files has changed on disk, appeared or gone */
  constructor(
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  follow(files: readonly string[]): void {
    const wanted = new Set(files);
    const added = [...wanted].filter((file) => !this.watched.has(file));
    const gone = [...this.watched].filter((file) => !wanted.has(file));
    this.watched = wanted;
    if (added.length > 0) {
      this.watcher ??= watch([], { ignoreInitial: true, awaitWriteFinish: settled })
        .on("all", this.changed)
        .on("error", this.failed);
      this.watcher.add(added);
    }
    if (gone.length > 0) this.watcher?.unwatch(gone);
  }

  async close(): Promise<void> {
    await this.watcher?.close();
  }
}
