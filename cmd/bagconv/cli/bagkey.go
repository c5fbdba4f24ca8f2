package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/storage"
)

// keyVariable is where the key of encrypted bags can be, as --bag-key has it.
const keyVariable = "BAGCONV_BAG_KEY"

// maxKey is the most bytes of a file that can be a key.
const maxKey = 64 << 10

// keyFlags name the key of encrypted bags. It can stand on the line only, so that no file of flags shows
// it.
func (e *env) keyFlags() []flags.Flag {
	key := flags.Flag{Name: "bag-key", Arg: "HEX|@FILE", LineOnly: true, Set: e.setKey,
		Help: "key of encrypted bags: in FILE, on standard input (@-), or as HEX, which other users may see in the list of " +
			"processes. Without the flag the key comes from the variable " + keyVariable + ", or from gpg"}
	return flags.AllIn(urlGroup, makes+" export batch append work play info list defs check report verify cat gen serve",
		key)
}

// setKey takes the key of the line.
func (e *env) setKey(f *flags.Flag) error { return e.takeKey(f.String(), "--bag-key") }

// setOtherKey takes the key of the environment, if the command takes one and the line has no key.
func (e *env) setOtherKey(c *flags.Command) error {
	f, text := c.Flag("bag-key"), os.Getenv(keyVariable)
	if f == nil || f.IsSet() || text == "" {
		return nil
	}
	return e.takeKey(text, keyVariable)
}

func (e *env) takeKey(text, from string) error {
	key, err := readKey(text, from)
	e.set.job.Read.Key = key
	return err
}

// readKey returns the key that a text is or names. Errors do not show it.
func readKey(text, from string) (storage.Secret, error) {
	key := []byte(strings.TrimSpace(text))
	if name, named := strings.CutPrefix(text, "@"); named {
		in, what := io.Reader(os.Stdin), "standard input"
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				return storage.Secret{}, err
			}
			defer func() { _ = f.Close() }() // it was only read
			in, what = f, name
		}
		var err error
		if key, err = io.ReadAll(io.LimitReader(in, maxKey+1)); err != nil {
			return storage.Secret{}, fmt.Errorf("%s: %w", what, err)
		}
		if len(key) > maxKey {
			return storage.Secret{}, flags.Usage("name a file with a key", "%s is too large for a key", phrase.Clean(what))
		}
	}
	if len(key) == 0 {
		return storage.Secret{}, flags.Usage("type --bag-key @FILE", "%s has no key", from)
	}
	return storage.NewSecret(key), nil
}

// takeOutputKey reads an output that is encrypted with the key of a file with that key, to verify
// it, unless the line has another one.
func takeOutputKey(job *convert.Job, choice string) (err error) {
	if file, ok := strings.CutPrefix(choice, "key:@"); ok && job.Read.Key.Reveal() == nil {
		if job.Read.Key, err = readKey("@"+file, "--"+storage.NameEncrypt); err != nil {
			return flags.Usage("name a file with a key", "--%s: %v", storage.NameEncrypt, explain(err))
		}
	}
	return nil
}
