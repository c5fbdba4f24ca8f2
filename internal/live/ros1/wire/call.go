package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Timeout bounds a call of another node.
const Timeout = 10 * time.Second

// client is for all calls: no proxies, because nodes are on the local network.
var client = &http.Client{
	Timeout: Timeout,
	Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, MaxIdleConnsPerHost: 2,
		IdleConnTimeout: 30 * time.Second},
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("a node does not redirect")
	},
}

// A Refusal is an answer with a code other than 1.
type Refusal struct{ method, text string }

func (r *Refusal) Error() string { return fmt.Sprintf("%s was refused: %.300s", r.method, r.text) }

// Call calls a method of the master or of a node, and returns the value of its answer
// [code, text, value].
func Call(ctx context.Context, uri, method string, args ...any) (any, error) {
	body := EncodeCall(method, args...)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "text/xml")
	resp, err := client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the caller names the address
		}
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: it answered with HTTP status %s", method, resp.Status)
	}
	v, err := DecodeAnswer(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	list, _ := v.([]any)
	if len(list) != 3 {
		return nil, fmt.Errorf("%s: an answer that is not [code, text, value]", method)
	}
	code, ok := list[0].(int)
	if !ok || code != 1 {
		return nil, &Refusal{method, fmt.Sprint(list[1])}
	}
	return list[2], nil
}
