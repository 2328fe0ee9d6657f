// What lies between a browser and the daemon, where answers get lost: a relay that passes everything on, until it is
// told to lose the next answer.

import net from 'node:net';

export class Network {
  constructor(daemon) {
    this.daemon = daemon;
    this.port = 0;
    this.lost = 0; // answers
    this.lines = new Set();
  }

  async open() {
    this.server = net.createServer((near) => this.#connect(near));
    await new Promise((resolve, reject) => this.server.on('error', reject).listen(0, '127.0.0.1', resolve));
    this.port = this.server.address().port;
  }

  /** The next answer gets as far as here and no further: the connection breaks. `then` runs at that moment. */
  loseNextAnswer(then = () => {}) {
    this.onAnswer = then;
  }

  /** `then` runs when the next request gets as far as here, before it goes on. */
  atNextRequest(then) {
    this.onRequest = then;
  }

  close() {
    for (const socket of this.lines) socket.destroy();
    this.server?.close();
  }

  #connect(near) {
    const far = net.connect(this.daemon.port, '127.0.0.1');
    for (const [socket, other] of [[near, far], [far, near]]) {
      this.lines.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {}).on('close', () => {
        this.lines.delete(socket);
        other.destroy();
      });
    }
    near.on('data', (bytes) => {
      this.#take('onRequest')?.();
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      const lose = this.#take('onAnswer');
      if (lose === undefined) {
        near.write(bytes);
        return;
      }
      this.lost++;
      near.destroy();
      lose();
    });
  }

  #take(name) {
    const then = this[name];
    this[name] = undefined;
    return then;
  }
}
