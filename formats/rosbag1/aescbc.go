package rosbag1

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// AES-128 in CBC mode, as rosbag_storage's aes_encryptor.cpp has it: 16 random bytes, then
// the data with PKCS#7 padding. The file header has the key, encrypted by GPG for a user.
const (
	aesName           = "rosbag/AesCbcEncryptor"
	fieldGPGUser      = "gpg_user"
	fieldEncryptedKey = "encrypted_key"
	keySize           = 16
)

// aesEncryptor is an Encryptor.
type aesEncryptor struct{ block cipher.Block }

func newAES(key []byte) (encryptor, error) {
	if len(key) != keySize {
		return nil, fmt.Errorf("a key has %d bytes, not %d: %w", keySize, len(key), storage.ErrKey)
	}
	block, err := aes.NewCipher(key)
	return aesEncryptor{block}, err
}

func (e aesEncryptor) Size(size int64) int64 {
	return aes.BlockSize + (size/aes.BlockSize+1)*aes.BlockSize
}

func (e aesEncryptor) Encrypt(dst, src []byte) ([]byte, error) {
	at := len(dst)
	dst = append(dst, make([]byte, aes.BlockSize)...)
	iv := dst[at:]
	if _, err := rand.Read(iv); err != nil {
		return dst, err
	}
	dst = append(dst, src...)
	pad := aes.BlockSize - len(src)%aes.BlockSize
	for range pad {
		dst = append(dst, byte(pad))
	}
	data := dst[at+aes.BlockSize:]
	cipher.NewCBCEncrypter(e.block, dst[at:at+aes.BlockSize]).CryptBlocks(data, data)
	return dst, nil
}

var errDecrypt = errors.New("the encrypted data is damaged or cut off")

func (e aesEncryptor) Decrypt(dst, src []byte) ([]byte, error) {
	if len(src) < 2*aes.BlockSize {
		return dst, errDecrypt
	}
	iv, data := src[:aes.BlockSize], src[aes.BlockSize:]
	whole := len(data) - len(data)%aes.BlockSize
	at := len(dst)
	dst = append(dst, data[:whole]...)
	out := dst[at:]
	cipher.NewCBCDecrypter(e.block, iv).CryptBlocks(out, out)
	pad := int(out[len(out)-1])
	if whole < len(data) || pad == 0 || pad > aes.BlockSize {
		return dst, errDecrypt
	}
	for _, c := range out[len(out)-pad:] {
		if int(c) != pad {
			return dst, errDecrypt
		}
	}
	return dst[:len(dst)-pad], nil
}

// openAES takes the user's key, or asks gpg for the key in the bag.
func openAES(ctx context.Context, fields map[string]string, key storage.Secret) (encryptor, error) {
	if b := key.Reveal(); b != nil {
		b, err := parseKey(b)
		if err != nil {
			return nil, err
		}
		return newAES(b)
	}
	if fields[fieldEncryptedKey] == "" {
		return nil, fmt.Errorf("the bag does not have its key: %w", storage.ErrKey)
	}
	b, err := runGPG(ctx, []byte(fields[fieldEncryptedKey]), "--decrypt")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, storage.ErrKey)
	}
	return newAES(b)
}

// parseKey takes a key in hex, or as it is.
func parseKey(b []byte) ([]byte, error) {
	if text := strings.TrimSpace(string(b)); len(text) == 2*keySize {
		if key, err := hex.DecodeString(text); err == nil {
			return key, nil
		}
	}
	if len(b) == keySize {
		return b, nil
	}
	return nil, fmt.Errorf("a key has %d hexadecimal digits, or %d bytes: %w", 2*keySize, keySize, storage.ErrKey)
}

// createAES makes a key and has gpg encrypt it for a user, or takes the key from a file: then the
// key is not in the bag.
func createAES(ctx context.Context, kind, value string) (encryptor, map[string]string, error) {
	fields := map[string]string{fieldGPGUser: "", fieldEncryptedKey: ""}
	var key []byte
	switch file, named := strings.CutPrefix(value, "@"); {
	case kind == "key" && named && file != "":
		b, err := os.ReadFile(file)
		if err == nil {
			key, err = parseKey(b)
		}
		if err != nil {
			return nil, nil, &storage.OptionError{Name: storage.NameEncrypt,
				What: fmt.Sprintf("the key in %s cannot be used: %v", file, err), Hint: "name a file with a key"}
		}
	case kind == "gpg" && value != "":
		key = make([]byte, keySize)
		if _, err := rand.Read(key); err != nil {
			return nil, nil, err
		}
		b, err := runGPG(ctx, key, "--trust-model", "always", "--recipient", value, "--encrypt")
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", err, storage.ErrKey)
		}
		fields[fieldGPGUser], fields[fieldEncryptedKey] = value, string(b)
	default:
		return nil, nil, &storage.OptionError{Name: storage.NameEncrypt, What: "it does not name a key",
			Hint: "type gpg:USER or key:@FILE; a key on the command line shows in lists of processes"}
	}
	enc, err := newAES(key)
	return enc, fields, err
}
