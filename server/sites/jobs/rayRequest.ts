/**
 * One request to Ray's dashboard. Ray refuses a POST that looks like a browser's (405), and Node's `fetch` sends
 * `sec-fetch-mode`: so it is `node:http`.
 */
import { readFileSync } from "node:fs";
import { request as plain } from "node:http";
import { request as secure } from "node:https";
import { homedir } from "node:os";
import { join } from "node:path";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";

export interface RayAnswer {
  readonly status: number;
  readonly text: string;
}

/** Seconds that Ray has to answer. */
const patience = 30;

/**
 * @param base the dashboard's address, as `http://127.0.0.1:8265`
 * @throws UserError with the code `site-unreachable` where nobody answers
 */
export function rayRequest(
  base: string,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
): Promise<RayAnswer> {
  const url = new URL(path, base);
  const token = rayToken();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...(text === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const asked = (url.protocol === "https:" ? secure : plain)(
      url,
      { method, headers, timeout: patience * 1000 },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("error", (error) => reject(unreachable(base, error)));
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }),
        );
      },
    );
    asked.on("timeout", () => asked.destroy(new Error(`no answer within ${patience} s`)));
    asked.on("error", (error) => reject(unreachable(base, error)));
    asked.end(text);
  });
}

/** Where Ray's own programs look for it; a cluster asks for one where it finds one. */
function rayToken(): string | undefined {
  const { RAY_AUTH_TOKEN: token, RAY_AUTH_TOKEN_PATH: named } = process.env;
  if (token !== undefined && token !== "") return token;
  const file = named ?? join(homedir(), ".ray", "auth_token");
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined; // a cluster without tokens
  }
}

const unreachable = (base: string, cause: unknown): UserError =>
  new UserError(`Ray at ${base} does not answer: ${messageOf(cause)}`, {
    code: "site-unreachable",
    cause,
    action: "Start it (`ray start --head`), or forward its port: ssh -L 8265:127.0.0.1:8265 HEAD.",
  });
