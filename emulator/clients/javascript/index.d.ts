/** What the emulator refused, with Cloudflare's code where it has one. */
export class EmulatorError extends Error {
  readonly code: number;
  readonly status: number;
}

export interface ServeOptions {
  /** Wrangler files whose Workers run, all on one account; `wrangler.jsonc` without. */
  workers?: string | string[];
  /** An environment of these files. */
  env?: string;
  /** Answers what Workers fetch; without it, their requests are refused. */
  fetch?: (request: Request) => Response | Promise<Response>;
  plan?: "paid" | "free";
  /** When virtual time starts; 2026-01-01 without. */
  start?: Date | string;
  /** The same ids and faults in every run; 0 without. */
  seed?: number;
  /** Where the files are; the working folder without. */
  cwd?: string;
  /** The program; else what the variable CFQ_EMULATOR says, else that of a `.venv` from `cwd` up, else the PATH's. */
  command?: string | string[];
  /** More options of `cfq-emulator serve`. */
  extra?: string[];
}

/** Starts `cfq-emulator serve` with Workers, on virtual time, and gives a client of it. `close()` ends it. */
export function serve(options?: ServeOptions): Promise<Emulator>;

/** A client of a server that somebody else has started, with `--control` or `--worker`. */
export function connect(url: string): Emulator;

export type ContentType = "json" | "text" | "bytes" | "v8";
export type State = "waiting" | "acked" | "dead-lettered" | "dropped" | "expired" | "purged" | "redriven";

export interface Fate<Body = any> {
  id: string;
  queue: string;
  state: State;
  at: Date;
  attempts: number;
  contentType: ContentType;
  body: Body;
}

export interface Delivered<Body = any> {
  id: string;
  attempts: number;
  contentType: ContentType;
  body: Body;
}

export interface Delivery<Body = any> {
  at: Date;
  queue: string;
  messages: Delivered<Body>[];
  /** `ok`, `exception`, `exceededCpu`, …; null while it runs. */
  outcome: string | null;
  error: string | null;
}

export interface TraceLine {
  at: Date;
  queue: string;
  id: string;
  attempt: number;
  what: string;
}

export interface WorkerShown {
  name: string;
  file: string;
  consumes: string[];
  console: { level: string; text: string }[];
  fetches: { method: string; url: string; body: string; at: Date }[];
}

export interface SendOptions {
  /** `json` without. Bytes and V8's format are for Workers: Cloudflare's REST API takes these two. */
  contentType?: "json" | "text";
  delaySeconds?: number;
}

export interface Pulled<Body = any> {
  id: string;
  leaseId: string;
  attempts: number;
  timestamp: Date;
  contentType: ContentType;
  body: Body;
}

/** One account of queues and Workers, on a clock that moves by order. */
export class Emulator implements AsyncDisposable {
  /** Where the server is. */
  readonly url: string;
  /** Ends the server, if `serve` started it. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  /** One request to the server; the `result` of its answer. */
  request(method: string, path: string, body?: unknown): Promise<any>;

  /** The virtual time. */
  now(): Promise<Date>;
  /** Lets so many seconds pass; everything due on the way happens, each thing at its own moment. */
  advance(seconds: number): Promise<Date>;
  /** Lets time pass up to a moment. */
  advanceTo(when: Date | string | number): Promise<Date>;
  /** Lets time pass until no batch is due and no handler runs. */
  runUntilIdle(): Promise<Date>;
  /** Begins anew: empty queues and stores, Workers as they were loaded first, no faults. Time goes on. */
  reset(): Promise<void>;

  /** What became of each message in each queue that it entered, in order of entry, since the last reset. */
  fates<Body = any>(options?: { queue?: string }): Promise<Fate<Body>[]>;
  /** Every batch that a push consumer received, in order, since the last reset. */
  deliveries<Body = any>(options?: { queue?: string }): Promise<Delivery<Body>[]>;
  /** The timeline of a message (its id, or the start of it), or of all. */
  trace(message?: string): Promise<{ lines: TraceLine[]; text: string }>;
  /** The Workers, with what each has written to its console and fetched since the last reset. */
  workers(): Promise<WorkerShown[]>;

  /** Lets a Worker answer a request: a path, a URL or a Request; the first Worker, unless one is named. */
  fetch(input: string | URL | Request, init?: RequestInit & { worker?: string }): Promise<Response>;
  /**
   * The bindings of a Worker (the first, unless one is named), to be called as its code calls them:
   * `await emulator.env().DB.exec(sql)`, `await emulator.env().CACHE.get("key")`. Arguments and results are JSON.
   */
  env(worker?: string): Record<string, any>;
  /** The chances of faults, and how often each acted; with chances given, they are changed first. */
  faults(chances?: Record<string, number | [number, number]>): Promise<Record<string, any>>;
  /** A queue by its name. */
  queue<Body = any>(name: string): Queue<Body>;
}

/** One queue: as a producer and a pull consumer see it, and as its owner does. */
export class Queue<Body = any> {
  readonly name: string;
  send(body: Body, options?: SendOptions): Promise<void>;
  sendBatch(messages: Iterable<{ body: Body } & SendOptions>, options?: { delaySeconds?: number }): Promise<void>;
  pull(options?: { batchSize?: number; visibilityTimeoutMs?: number }): Promise<Pulled<Body>[]>;
  ack(settled: { acks?: string[]; retries?: (string | { leaseId: string; delaySeconds?: number })[] }): Promise<void>;
  metrics(): Promise<{ backlogCount: number; backlogBytes: number; oldestMessageTimestampMs: number }>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  purge(): Promise<void>;
}
