package remote

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// An aws is what the environment says about S3.
type aws struct {
	host      string
	secure    bool
	region    string
	lookup    minio.BucketLookupType
	creds     *credentials.Credentials
	anonymous bool
	transport http.RoundTripper
}

// awsConfig reads the usual variables, the profile in the shared files, and what the machine has
// a role for.
func awsConfig(l *link) (*aws, error) {
	profile, err := awsProfile(cmp.Or(os.Getenv("AWS_PROFILE"), "default"))
	if err != nil {
		return nil, err
	}
	transport, err := s3Transport(l)
	if err != nil {
		return nil, err
	}
	conf := &aws{
		transport: transport,
		host:      "s3.amazonaws.com", secure: true,
		region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), profile["region"]),
	}
	if endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"),
		profile["endpoint_url"]); endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, errEndpoint
		}
		conf.host, conf.secure, conf.lookup = u.Host, u.Scheme == "https", minio.BucketLookupPath
		conf.region = cmp.Or(conf.region, "us-east-1")
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}}
	var assumed credentials.Provider
	// keys of the environment count before profiles
	if v, err := providers[0].RetrieveWithCredContext(nil); err != nil || v.AccessKeyID == "" {
		if assumed, err = profileRole(profile, conf.region, 0); err != nil {
			return nil, err
		}
	}
	named := assumed // the provider whose error is worth knowing
	if assumed != nil {
		providers = append(providers, assumed)
	} else {
		// Keys, single sign-on or a program, of AWS_PROFILE, in ~/.aws/credentials and ~/.aws/config.
		providers = append(providers, &credentials.FileAWSCredentials{})
		if role, byVariables := awsRole(); role != nil {
			role.Region = conf.region
			providers = append(providers, role)
			if byVariables {
				named = role
			}
		}
	}
	conf.creds = credentials.NewChainCredentials(providers)
	asking := &credentials.CredContext{Client: &http.Client{Timeout: l.settings.Timeout}}
	v, err := conf.creds.GetWithContext(asking)
	if conf.anonymous = err != nil || v.AccessKeyID == ""; conf.anonymous {
		if named != nil {
			if _, err := named.RetrieveWithCredContext(asking); err != nil {
				return nil, fmt.Errorf("no credentials of the role that the environment or the profile names: %w", plain(err))
			}
		}
		conf.creds = credentials.NewStaticV4("", "", "")
	}
	return conf, nil
}

// s3Transport returns the transport to the servers of S3. It trusts the certificate authorities of the
// system and of AWS_CA_BUNDLE.
func s3Transport(l *link) (http.RoundTripper, error) {
	name := os.Getenv("AWS_CA_BUNDLE")
	if name == "" {
		return l.client.Transport, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // the bundle alone
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %s has no certificate (PEM)", name)
	}
	base := l.client.Transport.(*meter).base.(*http.Transport).Clone()
	base.TLSClientConfig = &tls.Config{RootCAs: pool}
	return &meter{link: l, base: base}, nil
}

// awsProfile returns the keys of a profile in the shared configuration.
func awsProfile(name string) (map[string]string, error) {
	file := os.Getenv("AWS_CONFIG_FILE")
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, nil // without a home folder there is no configuration
		}
		file = filepath.Join(home, ".aws", "config")
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	conf, err := ini.Load(text)
	if err != nil {
		return nil, errors.New(file + ": it is not a configuration file of AWS")
	}
	for _, section := range []string{"profile " + name, name} {
		if s, err := conf.GetSection(section); err == nil {
			return s.KeysHash(), nil
		}
	}
	return nil, nil
}
