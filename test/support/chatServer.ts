/** An OpenAI-compatible server on this machine. */
import { createServer } from "node:http";

export interface ChatServer {
  readonly url: string;
  /** What was asked, in order. */
  readonly asked: {
    readonly body: Readonly<Record<string, unknown>>;
    readonly text: string;
    readonly key: string | undefined;
  }[];
  close(): Promise<void>;
}

const completion = (content: string): string =>
  JSON.stringify({ choices: [{ message: { role: "assistant", content } }] });

/** @param answer to the last message; a number is a status to refuse with, `raw` another body than a completion */
export async function chatServer(
  answer: (text: string, times: number, model: string) => string | number | { readonly raw: string },
): Promise<ChatServer> {
  const asked: ChatServer["asked"] = [];
  const server = createServer((request, response) => {
    let received = "";
    request.on("data", (part: Buffer) => (received += part.toString()));
    request.on("end", () => {
      if (request.url === "/v1/models") {
        response.end(JSON.stringify({ data: [{ id: "served" }] }));
        return;
      }
      const body: { model: string; messages: { content: string }[] } = JSON.parse(received);
      const text = body.messages.at(-1)!.content;
      asked.push({ body: { ...body }, text, key: request.headers.authorization });
      const times = asked.filter((one) => one.text === text).length;
      const said = request.url === "/v1/chat/completions" ? answer(text, times, body.model) : 404;
      response.statusCode = typeof said === "number" ? said : 200;
      response.end(
        typeof said === "number" ? "refused" : typeof said === "object" ? said.raw : completion(said),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
