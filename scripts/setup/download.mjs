// Fetching over HTTP by Node alone: through the proxy and with the certificates that the environment names, going on where
// a connection broke off.
import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import http from "node:http";
import https from "node:https";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import tls from "node:tls";
import { SetupError } from "./process.mjs";
import { putInPlace } from "../../shared/lib/putInPlace.mjs";

/** An address as it may be shown. */
export function withoutPassword(url) {
  const shown = new URL(url);
  if (shown.username !== "" || shown.password !== "") shown.username = shown.password = "";
  shown.search = "";
  return shown.href;
}

/** The proxy for an address by the usual variables, or undefined. */
export function proxyFor(url, env = process.env) {
  const { protocol, hostname, port } = new URL(url);
  const named = (name) => env[name] || env[name.toUpperCase()];
  const excepted = (named("no_proxy") ?? "").split(/[,\s]+/).filter(Boolean);
  const within = (one) => {
    const [, host = "", at] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(one) ?? [];
    return (at === undefined || at === port) && (hostname === host || hostname.endsWith(`.${host}`));
  };
  if (excepted.some((one) => one === "*" || within(one))) return undefined;
  const proxy = named(`${protocol.slice(0, -1)}_proxy`) ?? named("all_proxy");
  return proxy === undefined ? undefined : new URL(/^\w+:\/\//.test(proxy) ? proxy : `http://${proxy}`);
}

/** Certificates that uv, pip or curl are told to trust, besides Node's own. */
function authorities(env = process.env) {
  const files = ["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"].map(
    (name) => env[name],
  );
  const found = [...new Set(files)].filter((file) => file && existsSync(file));
  return found.length === 0
    ? undefined
    : [...tls.rootCertificates, ...found.map((file) => readFileSync(file, "utf8"))];
}

const basic = ({ username, password }) =>
  username === ""
    ? undefined
    : `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")}`;

/** A connection through a proxy to the host of an address. */
function tunnel(proxy, { hostname, port }) {
  const path = `${hostname}:${port || 443}`;
  const authorization = basic(proxy);
  const request = (proxy.protocol === "https:" ? https : http).request({
    host: proxy.hostname,
    port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
    method: "CONNECT",
    path,
    headers: { Host: path, ...(authorization === undefined ? {} : { "Proxy-Authorization": authorization }) },
  });
  return new Promise((resolve, reject) => {
    request.once("error", reject);
    request.once("connect", ({ statusCode }, socket) =>
      statusCode === 200
        ? resolve(socket)
        : reject(new SetupError(`the proxy ${proxy.host} answered ${statusCode}`)),
    );
    request.end();
  });
}

async function optionsFor(url, headers) {
  const proxy = proxyFor(url);
  const secure = url.protocol === "https:";
  const own = { headers, timeout: 60_000, ...(secure ? { ca: authorities() } : {}) };
  if (proxy === undefined) return { ...own, target: url };
  if (secure) {
    const socket = await tunnel(proxy, url);
    const createConnection = () => tls.connect({ socket, servername: url.hostname, ca: own.ca });
    return { ...own, target: url, agent: false, createConnection };
  }
  const authorization = basic(proxy);
  return {
    ...own,
    target: { host: proxy.hostname, port: proxy.port || 80, path: url.href },
    headers: {
      ...headers,
      Host: url.host,
      ...(authorization === undefined ? {} : { "Proxy-Authorization": authorization }),
    },
  };
}

/** The answer to a GET, redirects followed. Credentials go to the host that they are for. */
async function get(address, headers, left = 5) {
  const url = new URL(address);
  const authorization = basic(url);
  url.username = url.password = "";
  const all = {
    ...headers,
    "User-Agent": "gradus",
    ...(authorization === undefined ? {} : { Authorization: authorization }),
  };
  const { target, ...options } = await optionsFor(url, all);
  const answer = await new Promise((resolve, reject) => {
    const client = url.protocol === "https:" ? https : http;
    const request =
      target instanceof URL ? client.get(target, options) : client.get({ ...target, ...options });
    request.once("response", resolve);
    request.once("error", reject);
    request.once("timeout", () => request.destroy(new Error("no answer for a minute")));
  });
  if (![301, 302, 303, 307, 308].includes(answer.statusCode)) return answer;
  answer.resume();
  if (left === 0) throw new Error("too many redirects");
  const next = new URL(answer.headers.location ?? "", url);
  if (next.host === url.host && authorization !== undefined)
    [next.username, next.password] = [new URL(address).username, new URL(address).password];
  return get(next.href, headers, left - 1);
}

const failed = (url, reason) =>
  new SetupError(
    `${withoutPassword(url)} cannot be fetched: ${reason}`,
    "check the network, HTTPS_PROXY and SSL_CERT_FILE, then start again",
  );
const reasonOf = (error) => error.code ?? error.message;

/** @throws SetupError */
export async function fetchText(url, { accept }) {
  try {
    const answer = await get(url, { Accept: accept });
    if (answer.statusCode !== 200) throw new Error(`the answer is ${answer.statusCode}`);
    const parts = [];
    for await (const chunk of answer) parts.push(chunk);
    return Buffer.concat(parts).toString("utf8");
  } catch (error) {
    throw error instanceof SetupError ? error : failed(url, reasonOf(error));
  }
}

export function sha256Of(file) {
  return new Promise((resolve, reject) => {
    const hash = createHash("sha256");
    createReadStream(file)
      .on("data", (chunk) => hash.update(chunk))
      .on("error", reject)
      .on("end", () => resolve(hash.digest("hex")));
  });
}

/** So many tries in a row that bring nothing, and no more. */
const MOST_VAIN = 3;

/** Appends what is missing of a part. */
async function goOn(url, part) {
  const have = statSync(part, { throwIfNoEntry: false })?.size ?? 0;
  const answer = await get(url, have === 0 ? {} : { Range: `bytes=${have}-` });
  // All of it is there.
  if (answer.statusCode === 416) return void answer.resume();
  if (![200, 206].includes(answer.statusCode)) throw new Error(`the answer is ${answer.statusCode}`);
  await pipeline(answer, createWriteStream(part, { flags: answer.statusCode === 206 ? "a" : "w" }));
}

/**
 * Fetches a file to `file`. What broke off is kept as `FILE.part`, and gone on with: now, while more comes, and by the next call.
 * @throws SetupError where it cannot be had, or is another than its checksum says
 */
export async function download(url, file, sha256) {
  const part = `${file}.part`;
  mkdirSync(dirname(file), { recursive: true });
  const sizeNow = () => statSync(part, { throwIfNoEntry: false })?.size ?? 0;
  for (let vain = 0; ;) {
    const before = sizeNow();
    try {
      await goOn(url, part);
      break;
    } catch (error) {
      if (error instanceof SetupError) throw error;
      vain = sizeNow() > before ? 0 : vain + 1;
      if (vain === MOST_VAIN) throw failed(url, reasonOf(error));
    }
  }
  const found = await sha256Of(part);
  if (sha256 !== undefined && found !== sha256) {
    rmSync(part);
    throw new SetupError(
      `${withoutPassword(url)} has the SHA-256 ${found}, not ${sha256}: it is not the file that Gradus was tried with`,
      "name another index, or start again",
    );
  }
  putInPlace(part, file);
  return found;
}
