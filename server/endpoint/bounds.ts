/** How much one server takes: of a request, of all requests at once, and of what it keeps. Over a bound a request is refused, by name. */
import { Refusal } from "./errors.ts";
import { formatCount } from "../../shared/lib/format.ts";

const MiB = 2 ** 20;

export interface Bounds {
  /** Bytes of a request's body. */
  readonly body: number;
  /** Requests that are read, wait or are written at once, streams among them. */
  readonly requests: number;
  /** Bytes of all their bodies. */
  readonly bodies: number;
  /** Bytes that wait for a client which does not read its stream. */
  readonly unread: number;
  /** Sessions that are kept, and bytes of what is kept in them all. */
  readonly sessions: number;
  readonly kept: number;
}
export const usualBounds: Bounds = {
  body: 8 * MiB,
  requests: 4096,
  bodies: 256 * MiB,
  unread: 16 * MiB,
  sessions: 4096,
  kept: 512 * MiB,
};

/** Levels of lists and objects in a body; what reads them calls itself. */
export const MOST_LEVELS = 128;
/** Characters of a session's name. */
export const MOST_NAME = 256;
/** Bytes of a session's `defaults`. */
export const MOST_DEFAULTS = 65_536;
/** Of one request. */
export const MOST_CHOICES = 128;
export const MOST_ANSWERS = 1024;
export const MOST_MESSAGES = 4096;
export const MOST_TOOLS = 512;
export const MOST_STOPS = 64;
export const MOST_STOP = 1024;
export const MOST_BIASES = 4096;

export const sizeText = (bytes: number): string =>
  bytes >= MiB ? `${bytes / MiB} MiB` : `${formatCount(bytes)} bytes`;

export const tooLarge = (what: string, most: number): Refusal =>
  new Refusal(413, "too_large", `${what} is longer than ${sizeText(most)}. Send less.`);

const tooMany = (what: string): Refusal =>
  new Refusal(
    429,
    "too_many_requests",
    `The server has ${what} at once, and takes no more. Ask again when some are answered.`,
  );

/** The requests that are under way. */
export class Load {
  private requests = 0;
  private bytes = 0;

  constructor(private readonly bounds: Bounds) {}

  /** @throws Refusal where there are too many */
  begin(): Share {
    if (this.requests >= this.bounds.requests) throw tooMany(`${formatCount(this.bounds.requests)} requests`);
    this.requests++;
    return new Share(
      (bytes) => this.take(bytes),
      (bytes) => {
        this.requests--;
        this.bytes -= bytes;
      },
    );
  }
  private take(bytes: number): void {
    if (this.bytes + bytes > this.bounds.bodies) throw tooMany(`${sizeText(this.bounds.bodies)} of requests`);
    this.bytes += bytes;
  }
}

/** One request's part of it. */
export class Share {
  bytes = 0;

  constructor(
    private readonly take: (bytes: number) => void,
    private readonly leave: (bytes: number) => void,
  ) {}

  /** @throws Refusal where all bodies together are too long */
  add(bytes: number): void {
    this.take(bytes);
    this.bytes += bytes;
  }
  end(): void {
    this.leave(this.bytes);
    this.bytes = 0;
  }
}
