/**
 * One client's subscription: it is sent what is new at most ten times a second, a slow one later and in larger
 * batches, because each batch waits until the one before it has left for the socket.
 */
import { changed, type ParamsOf, type ResultOf, type subscribe } from "../../shared/protocol/protocol.ts";

const interval = 100;

export type ReadChanges = (parameters: ParamsOf<typeof subscribe>) => Promise<ResultOf<typeof subscribe>>;

export class Subscription {
  private timer: NodeJS.Timeout | undefined;
  private sending = false;
  private again = false;
  private closed = false;

  constructor(
    private readonly connection: { sendNotification(method: string, parameters: unknown): Promise<void> },
    private readonly read: ReadChanges,
    private cursor: number,
    private readonly runs: readonly string[] | undefined,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** The feed has grown to this cursor. */
  grown(head: number): void {
    if (this.closed || head <= this.cursor) return;
    if (this.sending) this.again = true;
    else this.timer ??= setTimeout(() => void this.flush(), interval);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  private async flush(): Promise<void> {
    this.timer = undefined;
    this.sending = true;
    this.again = false;
    try {
      const { cursor, restart, changes } = await this.read({
        since: this.cursor,
        ...(this.runs === undefined ? {} : { runs: [...this.runs] }),
      });
      if (this.closed) return;
      const more = cursor > this.cursor && !restart && changes.length > 0;
      this.cursor = cursor;
      if (restart || changes.length > 0)
        await this.connection.sendNotification(
          changed.method,
          restart ? { cursor, changes, restart } : { cursor, changes },
        );
      this.again ||= more;
    } catch (error) {
      if (!this.closed) this.failed(error);
    } finally {
      this.sending = false;
    }
    if (this.again && !this.closed) this.timer ??= setTimeout(() => void this.flush(), interval);
  }
}
