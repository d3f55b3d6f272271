// Chat Completions over a small local model: `node server.mjs FOLDER WEIGHTS [PORT]`.
//
// FOLDER holds node_modules/node-llama-cpp and WEIGHTS is a GGUF file (`make real-model` fetches
// both). It listens on loopback only, answers one request at a time, and prints one line with its
// base URL when it is ready. Sampling is seeded, so the same request gets the same answer from the
// same build on the same machine.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, weights, port = "0"] = process.argv.slice(2);
if (!weights) {
  console.error("usage: node server.mjs FOLDER WEIGHTS [PORT]");
  process.exit(2);
}
const entry = join(resolve(folder), "node_modules", "node-llama-cpp", "dist", "index.js");
const { getLlama, LlamaChatSession, LlamaLogLevel } = await import(pathToFileURL(entry));

const MOST_BODY_BYTES = 4 * 2 ** 20;
const CONTEXT_TOKENS = 8192;

// Its threads spin while they wait for each other: one more than there are cores, by default, and
// it comes to a standstill. One core is left to the service that asks.
const threads = Math.max(1, availableParallelism() - 1);

const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath: weights });
const context = await model.createContext({ contextSize: CONTEXT_TOKENS, threads });
const sequence = context.getSequence();

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function bodyOf(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MOST_BODY_BYTES) throw new Refused(413, "the request is too long");
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    throw new Refused(400, "the request is not JSON");
  }
}

function textOf(content) {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

function historyOf(messages) {
  return messages.map(({ role, content }) => {
    const text = textOf(content);
    if (role === "assistant") return { type: "model", response: [text] };
    return { type: role === "user" ? "user" : "system", text };
  });
}

async function complete(body, signal) {
  const messages = body.messages ?? [];
  const last = messages.at(-1);
  if (last?.role !== "user") throw new Refused(400, "the last message has to be the user's");
  const most = body.max_tokens ?? body.max_completion_tokens ?? 400;
  const size = messages.reduce((sum, m) => sum + model.tokenize(textOf(m.content)).length, 0);
  if (size + most > CONTEXT_TOKENS) {
    throw new Refused(400, `${size} tokens and ${most} for the answer are more than fit`);
  }
  await sequence.clearHistory();
  const session = new LlamaChatSession({ contextSequence: sequence });
  try {
    session.setChatHistory(historyOf(messages.slice(0, -1)));
    const before = sequence.tokenMeter.getState();
    const seed = createHash("sha256").update(JSON.stringify(messages)).digest().readUInt32BE(0);
    const { responseText, stopReason } = await session.promptWithMeta(textOf(last.content), {
      maxTokens: most,
      temperature: body.temperature ?? 0.7,
      repeatPenalty: { penalty: 1.1 },
      seed,
      signal,
    });
    const used = sequence.tokenMeter.diff(before);
    return { responseText, cutOff: stopReason === "maxTokens", used };
  } finally {
    session.dispose({ disposeSequence: false });
  }
}

function completionOf(name, { responseText, cutOff, used }) {
  const { usedInputTokens: input, usedOutputTokens: output } = used;
  return {
    id: "chatcmpl-local",
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: name,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: responseText },
        finish_reason: cutOff ? "length" : "stop",
      },
    ],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}

let line = Promise.resolve();

/** Runs after all that came before it, whether or not that went well. */
function inTurn(work) {
  const done = line.then(work);
  line = done.catch(() => {});
  return done;
}

function send(response, status, content) {
  if (response.destroyed) return;
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(content));
}

const server = createServer(async (request, response) => {
  // Whoever hangs up is not computed for any longer.
  const gone = new AbortController();
  response.on("close", () => response.writableFinished || gone.abort());
  try {
    if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
      throw new Refused(404, "only POST /v1/chat/completions is here");
    }
    const body = await bodyOf(request);
    const done = await inTurn(() => {
      gone.signal.throwIfAborted();
      return complete(body, gone.signal);
    });
    send(response, 200, completionOf(body.model, done));
  } catch (error) {
    if (!(error instanceof Refused) && !gone.signal.aborted) console.error(error);
    const kind = error instanceof Refused ? "invalid_request_error" : "server_error";
    send(response, error.status ?? 500, { error: { message: error.message, type: kind } });
  }
});

server.listen(Number(port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/v1`);
});
