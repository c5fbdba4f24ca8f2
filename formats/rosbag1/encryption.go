package rosbag1

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// An encryptor encrypts and decrypts the chunks and the connections in the trailer of one bag.
// It is safe for concurrent use.
type encryptor interface {
	// Encrypt appends src, encrypted, to dst.
	Encrypt(dst, src []byte) ([]byte, error)

	// Decrypt appends src, decrypted, to dst. If src is damaged or cut off, what could be
	// decrypted is returned with an error.
	Decrypt(dst, src []byte) ([]byte, error)

	// Size is how many bytes size bytes have when they are encrypted.
	Size(size int64) int64
}

// The fields of the file header of an encrypted bag that all encryptions have.
const fieldEncryptor = "encryptor"

// openEncryptor returns the Encryptor of a bag whose file header has fields. key is what the user
// has set; without it, programs may be asked for a key. The error wraps storage.ErrKey if there is
// no key. Whether a key fits is found by what it decrypts.
func openEncryptor(ctx context.Context, fields map[string]string, key storage.Secret) (encryptor, error) {
	switch name := fields[fieldEncryptor]; name {
	case aesName:
		return openAES(ctx, fields, key)
	default:
		return nil, fmt.Errorf("the encryption %.60q is not known: %w", name, storage.ErrUnsupported)
	}
}

// createEncryptor returns the Encryptor of a new bag, and the fields of its file header. choice is the
// option "encrypt": KIND:VALUE, with or without the name of the encryption and a colon before it.
func createEncryptor(ctx context.Context, choice string) (encryptor, map[string]string, error) {
	kind, value, ok := strings.Cut(strings.TrimPrefix(choice, aesName+":"), ":")
	if !ok {
		return nil, nil, &storage.OptionError{Name: storage.NameEncrypt, What: "it is KIND:VALUE",
			Hint: "type gpg:USER or key:@FILE"}
	}
	enc, fields, err := createAES(ctx, kind, value)
	if err != nil {
		return nil, nil, err
	}
	fields = maps.Clone(fields)
	fields[fieldEncryptor] = aesName
	return enc, fields, nil
}
